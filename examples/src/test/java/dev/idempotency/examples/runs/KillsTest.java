package dev.idempotency.examples.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.runs.RaceTest.Printed;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
