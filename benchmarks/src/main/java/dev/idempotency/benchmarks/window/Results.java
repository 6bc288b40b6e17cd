package dev.idempotency.benchmarks.window;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where results go: CSV with a line of names first, to be read by programs. */
final class Results {

    /** Below the folder in which the program is started: the top folder of the project. */
    static final Path FOLDER = Path.of("benchmarks", "results");

    private Results() {}

    static void write(String file, List<String> lines) throws IOException {
        Path path = Files.createDirectories(FOLDER).resolve(file);
        Files.write(path, lines, StandardCharsets.UTF_8);
        System.out.println("written to " + path);
    }
}
