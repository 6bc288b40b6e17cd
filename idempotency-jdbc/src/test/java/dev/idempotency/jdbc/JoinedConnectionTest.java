package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls inside a transaction of plain JDBC, which nobody but its connection knows of. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class JoinedConnectionTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    private final Request request = request("m1");
    private final Messages messages;
    private final Connection connection;

    JoinedConnectionTest(TestDatabase database) throws SQLException {
        messages = new Messages(database);
        connection = messages.dataSource.getConnection();
        connection.setAutoCommit(false);
    }

    @AfterEach
    void end() throws SQLException {
        connection.rollback();
        connection.close();
    }

    private JdbcStore<String> store(Mode mode) {
        return mode == Mode.YOUR_TABLE ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    private Object joined(JdbcStore<String> store, Request request, String body) {
        return store.joining(connection).execute(request, insert(request, body), (names, original, remaining) -> {
            throw new AssertionError("a joined call has published");
        });
    }

    private Replayed<String> replayed(String body) {
        return new Replayed<>(body, request.keys().get(0), Source.STORE);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S6: first and repeat in one transaction; its commit stores both of its messages, on one connection")
    void firstAndRepeat_commitTogether(Mode mode) throws SQLException {
        JdbcStore<String> store = store(mode);
        messages.dataSource.forget();

        assertThat(joined(store, request, "ok")).isInstanceOf(Executed.class);
        assertThat(joined(store, request, "no")).isEqualTo(replayed("ok"));
        assertThat(joined(store, request("m2"), "ok")).isInstanceOf(Executed.class);
        connection.commit();

        assertThat(messages.rows()).isEqualTo(2);
        assertThat(messages.dataSource.mostConnections()).isEqualTo(1);
        assertThat(connection.isClosed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("W-4: the caller rolls back by hand: nothing is stored, and sent again it executes")
    void rawRollback_leavesNothing(Mode mode) throws SQLException {
        JdbcStore<String> store = store(mode);

        joined(store, request, "undone");
        connection.rollback();

        assertThat(joined(store, request, "ok")).isInstanceOf(Executed.class);
        connection.commit();
        assertThat(messages.rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S6: the caller goes back to a savepoint of its own: only what came before it is stored")
    void callersSavepoint_undoesCallAfterIt(Mode mode) throws SQLException {
        JdbcStore<String> store = store(mode);

        joined(store, request, "ok");
        Savepoint savepoint = connection.setSavepoint();
        joined(store, request("m2"), "undone");
        connection.rollback(savepoint);
        connection.commit();

        assertThat(messages.rows()).isEqualTo(1);
        assertThat(joined(store, request, "no")).isEqualTo(replayed("ok"));
        assertThat(joined(store, request("m2"), "ok")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S6: a connection in autocommit mode is refused, and nothing is touched")
    void autocommit_isRefused() throws SQLException {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        connection.setAutoCommit(true);
        messages.dataSource.forget();

        assertThatThrownBy(() -> joined(store, request, "no"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no transaction");

        assertThat(messages.dataSource.calls()).isEmpty();
        connection.setAutoCommit(false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("S5: after a deadlock each further call refuses, by any store, until the connection rolls back;"
            + " what the new transaction has done by then is kept")
    void dead_untilRawRollback(boolean commits) throws SQLException {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        messages.dataSource.fault(deadlock());
        assertThatThrownBy(() -> joined(store, request, "no")).isInstanceOf(RetryTransactionException.class);
        messages.dataSource.fault(Fault.none());

        for (Mode mode : Mode.values()) {
            JdbcStore<String> another = store(mode);
            assertThatThrownBy(() -> joined(another, request, "alone"))
                    .isInstanceOf(RetryTransactionException.class)
                    .hasMessageContaining("dead");
        }
        connection.rollback();
        plainInsert("business");
        assertThat(joined(store, request, "ok")).isInstanceOf(Executed.class);
        plainInsert("more business");
        if (commits) {
            connection.commit();
        } else {
            connection.rollback();
        }

        assertThat(messages.rows()).isEqualTo(commits ? 3 : 0);
    }

    @Test
    @DisplayName("S5: a transaction in which no savepoint can be set any more is dead until it is rolled back")
    void aborted_isDeadUntilRawRollback() throws SQLException {
        JdbcStore<String> store = store(Mode.TRANSACTIONAL);
        try (Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("select nonsense")).isInstanceOf(SQLException.class);
        }

        if (Dialect.of(connection).errorsAbort()) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> joined(store, request, "no")).isInstanceOf(RetryTransactionException.class);
            }
            connection.rollback();
        }
        assertThat(joined(store, request, "ok")).isInstanceOf(Executed.class);
        connection.commit();

        assertThat(messages.rows()).isEqualTo(1);
    }

    /** What H2 and MariaDB do to the victim of a deadlock, savepoint and all. */
    private static Fault deadlock() {
        return new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (call.startsWith("insert") && real != null) {
                    real.rollback();
                    throw new SQLException("deadlock", "40001");
                }
            }
        };
    }

    private void plainInsert(String messageId) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "insert into message (sender, message_id, body) values ('ben', '" + messageId + "', 'business')");
        }
    }
}
