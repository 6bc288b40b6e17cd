package dev.idempotency.examples.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.examples.runs.RaceTest.Printed;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OutagesTest {

    @Test
    @DisplayName(
            "R-3, R-6, R-8: with a Redis killed, paused, full, flushed and read-only, no call fails and nothing is stored twice")
    void redisFails_databaseDecides() {
        Printed printed = Printed.by(new Outages(), "--database", "h2", "--phase", "400", "--threads", "2");

        assertThat(printed.text())
                .contains(
                        "Redis killed",
                        "Redis paused",
                        "Redis full",
                        "Redis flushed",
                        "Redis read-only",
                        "ok      failed calls: none",
                        "ok      replies that differ from the first: 0",
                        "ok      stored twice, with Redis: 0",
                        "ok      stored twice, without Redis: 0",
                        "ok      stored, with Redis");
    }
}
