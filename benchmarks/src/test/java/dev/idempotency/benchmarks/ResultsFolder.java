package dev.idempotency.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Lets programs write to a folder of the test's own. */
public final class ResultsFolder implements BeforeEachCallback, AfterEachCallback {

    private Path folder = Path.of("");

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        folder = Files.createTempDirectory("results");
        System.setProperty(Results.FOLDER, folder.toString());
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        System.clearProperty(Results.FOLDER);
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    public Path path() {
        return folder;
    }

    public List<String> lines(String file) throws IOException {
        return Files.readAllLines(folder.resolve(file), StandardCharsets.UTF_8);
    }
}
