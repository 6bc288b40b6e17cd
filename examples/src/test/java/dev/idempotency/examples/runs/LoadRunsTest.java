package dev.idempotency.examples.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.runs.RaceTest.Printed;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The load runs in miniature: what they count is checked, and what they time is not. */
class LoadRunsTest {

    @ParameterizedTest
    @EnumSource(names = "REDIS", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("J-18: a crowd gets one execution and one reply, and other keys are timed")
    void crowd_getsOneReply(StoreKind store) {
        Printed printed = Printed.by(
                new Crowd(),
                "--store",
                store.toString(),
                "--database",
                "h2",
                "--duplicates",
                "50",
                "--takes",
                "100",
                "--rounds",
                "1",
                "--round",
                "300");

        assertThat(printed.text())
                .contains("ok      no failures", "ok      executions of 2 slow keys: 2", "ok      one reply")
                .contains("99th percentile with the crowd is");
    }

    @ParameterizedTest
    @EnumSource(names = {"H2", "POSTGRESQL"})
    @DisplayName("J-15: expired records are purged beside traffic; nothing that counts is lost")
    void purge_leavesWhatCounts(DatabaseKind database) {
        Printed printed = Printed.by(
                new PurgeRun(),
                "--database",
                database.toString(),
                "--records",
                "5000",
                "--batch",
                "100",
                "--before",
                "400");

        assertThat(printed.exitCode()).as(printed.text()).isZero();
        assertThat(printed.text()).contains("expired records left: 0", "records that count: 1,000 of 1,000", "passed");
    }

    @ParameterizedTest
    @CsvSource({
        "Race, --store redis, can't be in postgresql",
        "Race, --database redis-cluster, can't be in redis-cluster",
        "Crowd, --store redis, can't be in postgresql",
        "Crowd, --database redis, can't be in redis",
        "Crowd, --database h2 --url redis://127.0.0.1:1, is not one of h2",
        "Crowd, --store redis --database redis --url jdbc:h2:mem:x, is not one of redis",
        "PurgeRun, --database redis, can't be in redis",
        "Outages, --database redis, can't be in redis"
    })
    @DisplayName("A store and a database that don't fit are refused as wrong options, before anything is started")
    void misfit_isRefused(String run, String options, String message) {
        Callable<Integer> program = switch (run) {
            case "Race" -> new Race();
            case "Crowd" -> new Crowd();
            case "PurgeRun" -> new PurgeRun();
            default -> new Outages();
        };
        Printed printed = Printed.by(program, options.split(" ", -1));

        assertThat(printed.exitCode()).as(printed.text()).isEqualTo(2);
        assertThat(printed.text()).contains(message);
    }

    @Test
    @DisplayName("Each run says what it takes")
    void help_isPrinted() {
        assertThat(Printed.by(new Race(), "--help").text())
                .contains("--duplicates", "own-table, transactional, leased, redis");
        assertThat(Printed.by(new Kills(), "--help").text()).contains("--app-kills");
        assertThat(Printed.by(new Crowd(), "--help").text()).contains("--takes");
        assertThat(Printed.by(new PurgeRun(), "--help").text()).contains("--records");
        assertThat(Printed.by(new Outages(), "--help").text()).contains("--phase");
    }
}
