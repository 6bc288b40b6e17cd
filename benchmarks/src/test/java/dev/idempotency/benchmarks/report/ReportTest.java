package dev.idempotency.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.Results;
import dev.idempotency.benchmarks.ResultsFolder;
import dev.idempotency.benchmarks.report.Measure.Step;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ReportTest {

    private static final List<String> FILES = List.of(
            "window-memory.csv",
            "window-pauses.csv",
            "window-speed-1.json",
            "stores.csv",
            "load.csv",
            "load-limit.csv",
            "growth.csv",
            "notes.csv");

    @RegisterExtension
    final ResultsFolder results = new ResultsFolder();

    private void fixtures() throws IOException {
        for (String file : FILES) {
            try (InputStream fixture = Objects.requireNonNull(getClass().getResourceAsStream(file), file)) {
                Files.copy(fixture, results.path().resolve(file));
            }
        }
    }

    private String reportLine(String start) throws IOException {
        return results.lines("report.md").stream()
                .filter(line -> line.startsWith("| " + start))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line " + start));
    }

    @Test
    void nothingMeasured_isTold() throws IOException {
        Report.main(new String[0]);

        assertThat(reportLine("bytes an ID, 4,448 IDs")).endsWith("| ≤ 200 | not measured | not measured |");
        assertThat(reportLine("13,900 a second in batches")).endsWith("| < 50 ms | not measured | not measured |");
        assertThat(results.lines("figures.csv"))
                .filteredOn(line -> !line.startsWith("what,"))
                .isNotEmpty()
                .allMatch(line -> line.contains(",not measured,"));
    }

    @Test
    void figures_sayWhetherTheyWereReached() throws IOException {
        fixtures();

        Report.main(new String[0]);

        assertThat(reportLine("bytes an ID, 4,448 IDs")).endsWith("| ≤ 200 | 150.5 | yes |");
        assertThat(reportLine("bytes an ID, 41,700 IDs")).endsWith("| ≤ 100 | 101.0 | **no** |");
        assertThat(reportLine("window: hit, 1 thread,")).endsWith("| ≤ 1 | 0.50 | yes |");
        assertThat(reportLine("repeat in the window, COMPACT, 1 thread"))
                .endsWith("| ≥ 5,000,000 | 4,000,000 | **no** |");
        assertThat(reportLine("repeat in the window, COMPACT, bytes")).endsWith("| ≤ 100 | 90 | yes |");
        assertThat(reportLine("longest pause")).endsWith("| ≤ 0.25 | 0.20 | yes |");
        assertThat(reportLine("own table, first, any action, by hand = 1"))
                .endsWith("| ≥ 0.95 | 0.80 – **0.90** – 1.00 (POSTGRESQL, 1 thread, the lowest) | **no** |");
        assertThat(reportLine("batch of 100, PostgreSQL with fsync on")).endsWith("| ≥ 13,900 | 20,000 | yes |");
        assertThat(reportLine("13,900 a second in batches"))
                .endsWith("| < 50 ms | 21.500 ms over 60 s, 13899 answered a second | yes |");
        assertThat(results.lines("report.md"))
                .contains("| BATCH | 16,000 | 17,000 |", "| JVM | some, 17 |")
                .anyMatch(line -> line.startsWith("| first | 100,000 | RANDOM | 200 – **210** – 220 |"));
        assertThat(results.lines("ratios.csv"))
                .contains("POSTGRESQL,1,ownTable,byHandTransaction,0.95,0.800,0.900,1.000");
    }

    @Test
    void missedFigures_showTheirProfile_whereThereIsOne() throws IOException {
        fixtures();
        Files.writeString(results.path().resolve(Profile.file("ownTable")), "where its time goes");
        Files.writeString(results.path().resolve(Profile.file("transactionalBatch")), "of one that was reached");

        Report.main(new String[0]);

        assertThat(reportLine("own table, first, any action")).endsWith("| **no** ([profile](profile-ownTable.md)) |");
        assertThat(reportLine("batch of 100, library's table, keys first"))
                .endsWith("| ≥ 0.85 | 0.90 – **0.90** – 0.90 (POSTGRESQL, 1 thread, the lowest) | yes |");
    }

    @Test
    void roundsOfOneCase_areOneCase_andTheirRatiosAreMadeWithinARound() throws IOException {
        fixtures();

        Report.main(new String[0]);

        assertThat(results.lines("report.md"))
                .contains(
                        "| checkAndPublish | COMPACT | 4,448 | 1 | 100 – **400** – 400 | 400 | 0.50 – **1.25** – 2.00 | ≤ 1 | **no** |",
                        "| checkAndPublish | CAFFEINE | 4,448 | 1 | 200 – **200** – 200 | 450 |  |  |  |");
    }

    @Test
    void bytesOfAMessage_standBesideItsSpeed() throws IOException {
        fixtures();

        Report.main(new String[0]);

        assertThat(results.lines("report.md"))
                .contains("| `transactionalBatch` | POSTGRESQL | 1 | 9,000 – **9,000** – 9,000 | 4,500 |");
    }

    @Test
    void profile_namesMethodsAndClasses_andNoAddresses() throws Exception {
        Profile.main(new String[] {"key", "1"});

        assertThat(results.lines(Profile.file("key")))
                .contains("| share | class | nearest of the library |", "| --- | --- | --- |")
                .anyMatch(line -> line.startsWith("| ") && line.contains("`java.lang.String` | `Messages."))
                .noneMatch(line -> line.contains("0x") || line.contains("NaN"));
        assertThat(System.getProperty(Results.FOLDER)).isEqualTo(results.path().toString());
    }

    @Test
    void charts_areDrawn() throws IOException {
        fixtures();

        Report.main(new String[0]);

        for (String chart : List.of("memory", "latency", "ratios-POSTGRESQL", "growth")) {
            assertThat(results.path().resolve(chart + ".png")).isNotEmptyFile();
        }
    }

    @Test
    void aProgramThatFails_isTold_andTheOthersRun() throws Exception {
        Files.writeString(results.path().resolve("old.csv"), "what an earlier run left");
        List<Step> steps = List.of(
                new Step("dev.idempotency.benchmarks.NoSuchProgram", List.of("old.csv"), List.of()),
                Step.of(Report.class, List.of()));

        assertThat(Measure.run(steps, "a test")).isFalse();

        assertThat(results.path().resolve("old.csv")).doesNotExist();
        assertThat(results.lines(Results.NOTES))
                .contains("command,`a test`")
                .anyMatch(line -> line.startsWith("failed,NoSuchProgram"))
                .anyMatch(line -> line.matches("processor,\\d+ × .*"));
        assertThat(reportLine("failed")).contains("NoSuchProgram");
    }
}
