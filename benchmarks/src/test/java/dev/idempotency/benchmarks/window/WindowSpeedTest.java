package dev.idempotency.benchmarks.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WindowSpeedTest {

    @Test
    @DisplayName("Results say nothing of where this machine keeps things, and all else")
    void dropPaths_leavesTheRest(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("speed.json"), """
                [{"benchmark": "hit", "jvm": "/somewhere/java", "jvmArgs": ["-Dservers=/elsewhere"],
                  "primaryMetric": {"score": 538.16}}]
                """);

        WindowSpeed.dropPaths(file);

        assertThat(file).content().contains("\"hit\"", "538.16").doesNotContain("somewhere", "elsewhere");
    }
}
