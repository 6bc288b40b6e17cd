package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.testkit.ChildJvm;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Servers in processes of their own that send the same messages in batches; {@code -Dbatches=125} for 1,000 of them. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class TwoJvmBatchTest {

    private static final int BATCHES = Integer.getInteger("batches", 15);
    private static final int MESSAGES = 20 * BATCHES;

    private final TestDatabase database;

    @TempDir
    private Path folder = Path.of("");

    TwoJvmBatchTest(TestDatabase database) {
        this.database = database;
    }

    @ParameterizedTest
    @EnumSource(AwkwardBatchTest.Mode.class)
    @DisplayName(
            "S1: two JVMs send overlapping batches in mixed order: each message is executed once, and all get its response")
    void twoServers_oneExecution(AwkwardBatchTest.Mode mode) throws Exception {
        DataSource dataSource = database == TestDatabase.H2
                ? TestDatabase.h2("file:" + folder.resolve("db") + ";AUTO_SERVER=TRUE;LOCK_TIMEOUT=2000")
                : database.fresh();
        Messages messages = new Messages(database, dataSource);
        JdbcStores.transactional(messages.jdbi, Codec.utf8());
        List<String> lines = new ArrayList<>();
        messages.jdbi.useHandle(open -> {
            List<List<String>> arguments = new ArrayList<>();
            for (int server = 0; server < 2; server++) {
                arguments.add(List.of(url(dataSource), mode.name(), "" + server, "" + BATCHES, "" + MESSAGES));
            }
            ChildJvm.race(BatchingServer.class, Duration.ofMinutes(5), arguments)
                    .forEach(lines::addAll);
        });

        Map<String, Integer> executions = new HashMap<>();
        Map<String, String> responses = new HashMap<>();
        for (String line : lines) {
            String message = line.substring(line.indexOf(' ') + 1, line.indexOf(':'));
            String response = line.substring(line.indexOf(':') + 2);
            executions.merge(message, line.startsWith("executed") ? 1 : 0, Integer::sum);
            assertThat(response).as("the answer to its own message").endsWith(" " + message);
            assertThat(responses.merge(message, response, (one, other) -> one)).isEqualTo(response);
        }
        assertThat(lines).hasSize(2 * 4 * BATCHES * 20);
        assertThat(executions)
                .allSatisfy((message, count) -> assertThat(count).as(message).isEqualTo(1));
        assertThat(messages.rows()).isEqualTo(executions.size());
    }

    private static String url(DataSource dataSource) throws SQLException {
        if (dataSource instanceof PGSimpleDataSource postgresql) {
            return postgresql.getUrl() + "&user=" + postgresql.getUser();
        }
        if (dataSource instanceof MariaDbDataSource mariadb) {
            return mariadb.getUrl();
        }
        return ((org.h2.jdbcx.JdbcDataSource) dataSource).getURL();
    }
}
