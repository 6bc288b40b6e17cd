package dev.idempotency.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.ResultsFolder;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each program in miniature, so that none of them rots. What they measure here means nothing. */
class LoadMiniatureTest {

    @RegisterExtension
    final ResultsFolder results = new ResultsFolder();

    @Test
    void loadRun_answersEveryMessage_andStoresEachOnce() throws IOException {
        int status = LoadRun.run(
                "--target=H2",
                "--mode=SINGLE,SINGLE_STATEMENT,BATCH",
                "--rate=300",
                "--warm-up=0.4",
                "--seconds=0.6",
                "--window-seconds=0.2",
                "--window=COMPACT",
                "--late=0.5");

        assertThat(status).isZero();
        assertThat(results.lines(LoadRun.FILE))
                .filteredOn(line -> line.contains(",ALL,"))
                .hasSize(3)
                .allSatisfy(line ->
                        assertThat(line).contains(",COMPACT,300,0.6,ALL,180,").endsWith(",true,"));
        assertThat(results.lines(LoadRun.FILE)).anyMatch(line -> line.contains(",WINDOW_REPEAT,"));
    }

    @Test
    void limit_isLookedFor_atTwiceTheRate_whileItHolds() throws IOException {
        int status = LoadRun.run(
                "--target=H2",
                "--mode=SINGLE",
                "--rate=20",
                "--warm-up=0.5",
                "--seconds=0.5",
                "--find-limit",
                "--at-most=40",
                "--window=NONE");

        assertThat(status).isZero();
        assertThat(results.lines(LoadRun.LIMIT_FILE))
                .hasSizeGreaterThan(1)
                .anyMatch(line -> line.startsWith("SINGLE,NONE,20,0.5,"));
    }

    @Test
    void growth_measuresFirstsAndRepeats_ofEachKindOfId() throws IOException {
        assertThat(Growth.run("--target=H2", "--rows=1000,2500", "--rounds=1", "--seconds=0.05"))
                .isZero();

        assertThat(results.lines(Growth.FILE))
                .hasSize(1 + 2 * 2 * 2)
                .satisfies(lines -> assertThat(lines.get(1)).startsWith("RANDOM,1000,first,1,"));
    }
}
