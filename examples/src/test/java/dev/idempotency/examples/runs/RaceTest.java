package dev.idempotency.examples.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.servers.Durability;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The race itself, in miniature; and that it can be lost. */
class RaceTest {

    /** What a run printed, and its exit code. */
    record Printed(int exitCode, String text) {

        static Printed by(Callable<Integer> run, String... arguments) {
            StringWriter text = new StringWriter();
            CommandLine commandLine =
                    Program.commandLine(run).setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
            int exitCode = commandLine.execute(arguments);
            return new Printed(exitCode, text.toString());
        }
    }

    private static Printed race(String... arguments) {
        return Printed.by(new Race(), arguments);
    }

    @ParameterizedTest
    @CsvSource({"own-table, h2", "transactional, h2", "leased, h2", "redis, redis", "redis, redis-cluster"})
    @DisplayName("S1: copies race in two processes on H2, or on Redis: each key is executed once and answered alike")
    void copiesRace_eachKeyIsExecutedOnce(String store, String database) {
        Printed printed = race(
                "--store",
                store,
                "--database",
                database,
                "--processes",
                "2",
                "--threads",
                "4",
                "--keys",
                "60",
                "--duplicates",
                "6");

        assertThat(printed.exitCode()).as(printed.text()).isZero();
        assertThat(printed.text()).contains("effects in the database: 60 of 60 keys", "executed 60", "passed");
    }

    @Test
    @DisplayName("A table without a unique key loses the race, and the race says so")
    void noUniqueKey_isFound() throws SQLException {
        try (RunningDatabase database = RunningDatabase.start(DatabaseKind.H2, Durability.FAST);
                Connection connection = DriverManager.getConnection(database.url());
                Statement statement = connection.createStatement()) {
            statement.execute("create table run_message (run varchar not null, number bigint not null,"
                    + " message_id varchar not null, business_id varchar, response varchar not null)");

            Printed printed = race(
                    "--database",
                    "h2",
                    "--url",
                    database.url(),
                    "--processes",
                    "2",
                    "--threads",
                    "4",
                    "--keys",
                    "60",
                    "--duplicates",
                    "6");

            assertThat(printed.exitCode()).as(printed.text()).isEqualTo(1);
            assertThat(printed.text())
                    .contains("BROKEN  effects in the database")
                    .contains("BROKEN  stored twice")
                    .contains("FAILED");
        }
    }

    @Test
    @DisplayName("Numbers that contradict one another are refused")
    void contradiction_isRefused() {
        Printed printed = race("--calls", "10", "--keys", "3", "--duplicates", "3");

        assertThat(printed.exitCode()).isEqualTo(2);
        assertThat(printed.text()).contains("leave one out");
    }
}
