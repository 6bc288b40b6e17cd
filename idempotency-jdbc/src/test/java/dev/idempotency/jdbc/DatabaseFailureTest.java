package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.RetryableException;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of the database, told apart by SQLState alone: what is stored, what is not, and what nobody knows. */
class DatabaseFailureTest {

    private final Messages messages = new Messages(TestDatabase.H2);
    private final Request request = request("m1");
    private final List<IdempotencyKey> published = new ArrayList<>();

    /** The first call whose name begins so fails, before or after the real connection has done it. */
    private void failOnce(String call, boolean after, SQLException with) {
        AtomicBoolean failed = new AtomicBoolean();
        messages.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String now) throws SQLException {
                if (!after && now.startsWith(call) && !failed.getAndSet(true)) {
                    throw with;
                }
            }

            @Override
            public void after(Connection real, String now) throws SQLException {
                if (after && now.startsWith(call) && !failed.getAndSet(true)) {
                    throw with;
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"22001", "44000", "P0001"})
    @DisplayName("S4, J-2: the server refuses to commit: its error reaches the caller, nothing is stored or published")
    void commitRefused_isNotUnknown(String sqlState) {
        JdbcStore<String> store = messages.store();
        failOnce("commit", false, new SQLException("refused", sqlState));

        assertThatThrownBy(() -> store.execute(
                        request, insert(request, "ok"), (names, original, remaining) -> published.addAll(names)))
                .isNotInstanceOf(IdempotencyException.class)
                .hasRootCauseInstanceOf(SQLException.class);

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"40003", "08006", "57P01", "HY000"})
    @DisplayName("S4: errors that leave it open whether the commit was done are unknown, and a retry replays")
    void commitInDoubt_isUnknown(String sqlState) {
        JdbcStore<String> store = messages.store();
        failOnce("commit", true, new SQLException("who knows", sqlState));

        assertThatThrownBy(() -> store.execute(
                        request, insert(request, "ok"), (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(published).isEmpty();
        assertThat(store.execute(request, insert(request, "no"), (n, o, r) -> {}))
                .isInstanceOf(Replayed.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "HYT00", "90131"})
    @DisplayName("S5: H2 says at the commit to run the transaction again: so it is, and stored once")
    void commitSaysRunAgain_runsAgain(String sqlState) {
        JdbcStore<String> store = messages.store();
        failOnce("commit", false, new SQLException("again", sqlState));

        assertThat(store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(Executed.class);

        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S4: a lost connection goes before whatever else an error carries")
    void commitLostWithOtherErrors_isUnknown() {
        JdbcStore<String> store = messages.store();
        SQLException failure = new SQLException("data", "22001");
        failure.setNextException(new SQLException("connection reset", "08006"));
        failOnce("commit", true, failure);

        assertThatThrownBy(() -> store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(OutcomeUnknownException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "57P01"})
    @DisplayName("The connection is lost at a statement of the library: retryable, and nothing is stored")
    void connectionLostAtLibrarysStatement_isRetryable(String sqlState) {
        RecordStore<String> store = JdbcStores.transactional(messages.jdbi, Codec.utf8());
        failOnce("UPDATE", false, new SQLException("gone", sqlState));

        assertThatThrownBy(() -> store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(RetryableException.class);

        assertThat(messages.rows()).isZero();
        assertThat(store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S6: no way back to the savepoint: the transaction is dead, and further calls in it refuse")
    void noWayBackToSavepoint_killsTransaction() {
        JdbcStore<String> store = messages.store();
        failOnce("rollback", false, new SQLException("no such savepoint", "3B001"));

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThatThrownBy(() -> store.joining(handle)
                            .execute(
                                    request,
                                    h -> {
                                        throw new IllegalStateException("action");
                                    },
                                    (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class);
            assertThatThrownBy(() -> store.joining(handle).execute(request, insert(request, "alone"), (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class)
                    .hasMessageContaining("dead");
            handle.rollback();
        });

        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("S6: no savepoint can be set: the transaction is dead, and further calls in it refuse")
    void noSavepoint_killsTransaction() {
        JdbcStore<String> store = messages.store();
        failOnce("setSavepoint", false, new SQLException("no savepoint", "3B002"));

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThatThrownBy(() -> store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class);
            assertThatThrownBy(() -> store.joining(handle).execute(request, insert(request, "alone"), (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class)
                    .hasMessageContaining("dead");
            handle.rollback();
        });

        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("S5, S6: a deadlock that a joined action swallows: run your transaction again, not executed")
    void deadlockSwallowedByJoinedAction_isRetryTransaction() {
        JdbcStore<String> store = messages.store();
        failOnce("select 1", false, new SQLException("deadlock", "40001"));

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThatThrownBy(() -> store.joining(handle)
                            .execute(
                                    request,
                                    h -> {
                                        try {
                                            h.execute("select 1");
                                        } catch (RuntimeException e) {
                                            return "as if nothing had happened";
                                        }
                                        return insert(h, request, "ok");
                                    },
                                    (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class);
            handle.rollback();
        });
    }

    @Test
    @DisplayName("A repeat on a pool with autocommit off leaves no transaction open on the connection it gives back")
    void repeatWithoutAutocommit_leavesNoTransactionOpen() {
        Jdbi pool = Jdbi.create(() -> {
            Connection connection = messages.dataSource.getConnection();
            connection.setAutoCommit(false);
            return connection;
        });
        JdbcStore<String> store = JdbcStores.yourTable(pool, Messages::find);
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});
        messages.dataSource.forget();

        assertThat(store.execute(request, insert(request, "no"), (n, o, r) -> {}))
                .isInstanceOf(Replayed.class);

        List<String> calls = messages.dataSource.calls();
        assertThat(calls.get(calls.size() - 1)).isEqualTo("rollback");
    }

    @Test
    @DisplayName(
            "S2: no rollback works at all: the connection is closed before anybody turns autocommit on, which commits")
    void noRollbackWorks_nothingIsCommitted() {
        JdbcStore<String> store = messages.store();
        messages.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (call.equals("rollback")) {
                    throw new SQLException("no", "HY000");
                }
            }
        });

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "half");
                            throw new IllegalStateException("action");
                        },
                        (n, o, r) -> {}))
                .isInstanceOf(IllegalStateException.class);

        assertThat(messages.rows()).isZero();
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2: no rollback works at all: a pool does not hand the connection on with the transaction in it")
    void noRollbackWorks_poolGoesOnWithAnotherConnection(TestDatabase database) {
        Messages elsewhere = new Messages(database);
        HikariConfig config = new HikariConfig();
        config.setDataSource(elsewhere.dataSource);
        config.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            JdbcStore<String> store = JdbcStores.yourTable(pool, Messages::find, YourTableOptions.defaults());
            elsewhere.dataSource.fault(new Fault() {
                @Override
                public void before(@Nullable Connection real, String call) throws SQLException {
                    if (call.equals("rollback")) {
                        throw new SQLException("no", "HY000");
                    }
                }
            });
            assertThatThrownBy(() -> store.execute(
                            request,
                            handle -> {
                                insert(handle, request, "half");
                                throw new IllegalStateException("action");
                            },
                            (n, o, r) -> {}))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("action");
            elsewhere.dataSource.fault(Fault.none());
            assertThat(elsewhere.rows()).isZero();

            // The pool may not have seen yet that the connection is gone.
            assertThatCode(() -> store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                    .satisfiesAnyOf(
                            failure -> assertThat(failure).isNull(),
                            failure -> assertThat(failure).isInstanceOf(RetryableException.class));
        }
    }

    @Test
    @DisplayName("READ UNCOMMITTED is raised for the call, and the connection is given back as it came")
    void readUncommitted_isRaisedAndRestored() throws SQLException {
        try (Connection only = messages.real.getConnection()) {
            only.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
            JdbcStore<String> store = JdbcStores.yourTable(Jdbi.create(pooled(only)), Messages::find);
            List<Integer> seen = new ArrayList<>();

            store.<SQLException>execute(
                    request,
                    handle -> {
                        seen.add(only.getTransactionIsolation());
                        return insert(handle, request, "ok");
                    },
                    (n, o, r) -> {});

            assertThat(seen).containsExactly(Connection.TRANSACTION_READ_COMMITTED);
            assertThat(only.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_UNCOMMITTED);
            assertThat(only.getAutoCommit()).isTrue();
        }
    }

    /** A pool of one connection, which resets nothing. */
    private static ConnectionFactory pooled(Connection only) {
        return new ConnectionFactory() {
            @Override
            public Connection openConnection() {
                return only;
            }

            @Override
            public void closeConnection(Connection connection) {
                // Stays open, for the next one.
            }
        };
    }
}
