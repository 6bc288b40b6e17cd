package dev.idempotency.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TwoLayersTest {

    @TempDir
    private Path folder;

    @Test
    @DisplayName("W-8: two runs on one file: the second one replays all, with the same responses")
    void run_twiceOnOneFile_replays() {
        List<String> first = linesOfRun();
        List<String> second = linesOfRun();

        assertThat(first).filteredOn(line -> line.endsWith("Executed")).hasSize(2);
        assertThat(first).filteredOn(line -> line.contains("Replayed[")).hasSize(3);
        assertThat(second).filteredOn(line -> line.contains("Replayed[")).hasSize(5);
        assertThat(second).noneMatch(line -> line.endsWith("Executed"));
        assertThat(second)
                .extracting(TwoLayersTest::withoutOutcome)
                .isEqualTo(first.stream().map(TwoLayersTest::withoutOutcome).toList());
        assertThat(folder.resolve("service.mv.db")).exists();
    }

    private List<String> linesOfRun() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        TwoLayers.run(folder.resolve("service"), new PrintStream(out, true, UTF_8));
        return out.toString(UTF_8).lines().toList();
    }

    private static String withoutOutcome(String line) {
        return line.replaceAll("(Executed|Replayed.*)$", "");
    }
}
