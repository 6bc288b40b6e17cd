package dev.idempotency.benchmarks.window;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Starts programs of this class path in JVMs of their own. */
final class Jvm {

    private Jvm() {}

    /** Runs a program to its end, and returns what it printed. */
    static List<String> run(List<String> options, Class<?> program, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        Collections.addAll(command, arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines;
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            lines = output.lines().toList();
        }
        if (process.waitFor() != 0) {
            throw new IllegalStateException("ended with " + process.exitValue() + ": " + lines);
        }
        return lines;
    }
}
