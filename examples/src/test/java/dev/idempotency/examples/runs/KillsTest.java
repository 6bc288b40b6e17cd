package dev.idempotency.examples.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.runs.RaceTest.Printed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The kills, a few of them. */
class KillsTest {

    @ParameterizedTest
    @CsvSource({"own-table, postgresql", "transactional, postgresql17", "leased, postgresql", "redis, redis"})
    @DisplayName("Applications are killed and the server is stopped at once: nothing is lost, nothing stored twice")
    void killed_losesNothing(String store, String database) {
        Printed printed = Printed.by(
                new Kills(),
                "--store",
                store,
                "--database",
                database,
                "--app-kills",
                "4",
                "--server-stops",
                "1",
                "--processes",
                "2");

        assertThat(printed.exitCode()).as(printed.text()).isZero();
        assertThat(printed.text()).contains("server lost: 1", "acknowledged and lost: 0", "stored twice: 0", "passed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--everysec", "--failover", "--failover --confirmed-by 1"})
    @DisplayName(
            "A Redis that flushes every second, or whose replica is promoted: what it forgot is told, and is no violation")
    void forgetfulRedis_isToldOf(String options) {
        List<String> arguments = new ArrayList<>(List.of("--store", "redis", "--database", "redis"));
        arguments.addAll(List.of("--app-kills", "0", "--server-kills", "1", "--processes", "1"));
        arguments.addAll(Arrays.asList(options.split(" ", -1)));
        Printed printed = Printed.by(new Kills(), arguments.toArray(String[]::new));

        assertThat(printed.exitCode()).as(printed.text()).isZero();
        assertThat(printed.text())
                .contains("server lost: 1", "told    acknowledged and forgotten; losses of the server: 1;", "passed");
    }

    @Test
    @DisplayName("Options of a forgetful Redis are for Redis, and a confirmation is for a replica")
    void forgetfulOptions_elsewhere_areRefused() {
        assertThat(Printed.by(new Kills(), "--everysec").exitCode()).isEqualTo(2);
        assertThat(Printed.by(new Kills(), "--store", "redis", "--database", "redis", "--confirmed-by", "1")
                        .exitCode())
                .isEqualTo(2);
    }

    @Test
    @DisplayName("What is lost, stored twice, other than told, or told to nobody is found")
    void differences_areFound() {
        Map<Long, String> told = new HashMap<>(Map.of(1L, "a", 2L, "b", 3L, "c"));
        Stored service = new Stored(List.of("1 a", "1 a", "3 x", "4 d"));

        assertThat(KillsStored.of(service, told)).isEqualTo(new KillsStored(1, 1, 0, 1, 1));
    }

    /** Effects that are there. */
    private record Stored(List<String> effects) implements Service {

        @Override
        public dev.idempotency.Outcome<String> send(dev.idempotency.Request request, Effect effect) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void effects(Reader reader) {
            for (String effect : effects) {
                String[] parts = effect.split(" ", 2);
                reader.effect(Long.parseLong(parts[0]), parts[1]);
            }
        }

        @Override
        public void close() {}
    }
}
