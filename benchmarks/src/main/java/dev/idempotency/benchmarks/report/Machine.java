package dev.idempotency.benchmarks.report;

import dev.idempotency.benchmarks.Results;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Notes what the figures depend on. What can't be found out is told to be unknown. */
final class Machine {

    private static final Pattern LIBRARY = Pattern.compile(
            "(caffeine|jdbi3-core|HikariCP|jedis|postgresql|mariadb-java-client|h2|jmh-core)-(\\d[^/]*)\\.jar");

    private Machine() {}

    static void note(String command) throws IOException {
        OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        Results.note("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        Results.note("command", "`" + command + "`");
        Results.note("commit", commit());
        Results.note(
                "processor",
                system.getAvailableProcessors() + " × " + line(Path.of("/proc/cpuinfo"), "model name\\s*:\\s*(.*)"));
        Results.note("memory", line(Path.of("/proc/meminfo"), "MemTotal:\\s*(.*)"));
        Results.note("system", system.getName() + " " + system.getVersion() + " " + system.getArch());
        Results.note(
                "load before the first program", String.format(Locale.ROOT, "%.2f", system.getSystemLoadAverage()));
        Results.note(
                "JVM",
                System.getProperty("java.vm.name") + " " + Runtime.version() + " of "
                        + System.getProperty("java.vendor"));
        Matcher libraries =
                LIBRARY.matcher(System.getProperty("java.class.path").replace(File.separatorChar, '/'));
        Results.note(
                "libraries",
                String.join(
                        ", ",
                        libraries
                                .results()
                                .map(found -> found.group(1) + " " + found.group(2))
                                .sorted()
                                .toList()));
    }

    private static String line(Path file, String pattern) throws IOException {
        if (Files.isReadable(file)) {
            try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
                return lines.map(Pattern.compile(pattern)::matcher)
                        .filter(Matcher::matches)
                        .map(found -> found.group(1))
                        .findFirst()
                        .orElse("unknown");
            }
        }
        return "unknown";
    }

    private static String commit() {
        try {
            String commit = output("git", "rev-parse", "HEAD");
            String changed =
                    output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results");
            return changed.isEmpty() ? commit : commit + " and changes that are not committed";
        } catch (IOException e) {
            return "unknown";
        }
    }

    private static String output(String... command) throws IOException {
        Process process = new ProcessBuilder(List.of(command))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        try {
            if (process.waitFor() != 0) {
                throw new IOException("ended with " + process.exitValue());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        return output;
    }
}
