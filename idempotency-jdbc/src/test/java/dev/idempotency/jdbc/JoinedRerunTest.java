package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls inside a transaction of the caller that has to be run again: old snapshots, deadlocks, lost savepoints. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class JoinedRerunTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    private final TestDatabase database;
    private final Messages messages;
    private final Request request = request("m1");

    JoinedRerunTest(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
    }

    private JdbcStore<String> store(Mode mode) {
        return mode == Mode.YOUR_TABLE ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "S3: above READ COMMITTED, what is never a key that is taken comes back unchanged, not as a snapshot to renew")
    void notNullViolation_isThrownUnchanged(Mode mode) {
        JdbcStore<String> store = store(mode);

        messages.jdbi.useHandle(handle -> {
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.REPEATABLE_READ);
            handle.begin();
            assertThatThrownBy(() -> store.joining(handle)
                            .execute(
                                    request,
                                    h -> "" + h.execute("insert into message (sender, message_id) values ('a', 'b')"),
                                    (n, o, r) -> {}))
                    .isInstanceOf(UnableToExecuteStatementException.class);
            handle.rollback();
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S6: at SERIALIZABLE a repeat is told to run its transaction again, and gets the replay there")
    void serializable_isRetryTransaction_thenReplays(Mode mode) {
        assumeFalse(database.name().startsWith("MARIADB"), "at SERIALIZABLE its reads lock, and hold up the other one");
        JdbcStore<String> store = store(mode);
        store.execute(request("other"), insert(request("other"), "x"), (n, o, r) -> {});

        messages.jdbi.useHandle(handle -> {
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.SERIALIZABLE);
            handle.begin();
            handle.createQuery("select count(*) from message")
                    .mapTo(Integer.class)
                    .one();
            if (mode == Mode.TRANSACTIONAL) {
                handle.createQuery("select count(*) from idempotency_record")
                        .mapTo(Integer.class)
                        .one();
            }
            store.execute(request, insert(request, "ok"), (n, o, r) -> {});
            assertThatThrownBy(() -> store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class);
            handle.rollback();
            handle.begin();
            assertThat(store.joining(handle)
                            .execute(request, insert(request, "no"), (n, o, r) -> {})
                            .response())
                    .isEqualTo("ok");
            handle.commit();
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "S6: an original newer than the snapshot: run your transaction again, and the next one replays; where a"
                    + " locking read passes by the snapshot (MariaDB), it replays at once")
    void snapshotOlderThanOriginal_isRetryTransaction(Mode mode) {
        JdbcStore<String> store = store(mode);
        boolean lockingReadShowsIt = database == TestDatabase.MARIADB && mode == Mode.TRANSACTIONAL;

        messages.jdbi.useHandle(handle -> {
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.REPEATABLE_READ);
            handle.begin();
            // The snapshot is taken by the first read; in H2 by the first read of that table.
            String table = mode == Mode.YOUR_TABLE ? "message" : "idempotency_record";
            handle.createQuery("select count(*) from " + table)
                    .mapTo(Integer.class)
                    .one();
            store.execute(request, insert(request, "ok"), (n, o, r) -> {});

            if (!lockingReadShowsIt) {
                assertThatThrownBy(() -> store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                        .isInstanceOf(RetryTransactionException.class);
                handle.rollback();
                handle.begin();
            }
            assertThat(store.joining(handle)
                            .execute(request, insert(request, "no"), (n, o, r) -> {})
                            .response())
                    .isEqualTo("ok");
            handle.commit();
        });

        assertThat(messages.rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S5: after a deadlock the transaction is dead: further joined calls refuse until it is rolled back")
    void deadlock_killsTransaction_untilRolledBack(Mode mode) throws Exception {
        JdbcStore<String> store = store(mode);
        Request second = request("m2");
        JdbcStore<String> another = store(mode);
        CyclicBarrier bothHoldOne = new CyclicBarrier(2);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<Boolean>> victims = new ArrayList<>();
            for (boolean straight : new boolean[] {true, false}) {
                victims.add(threads.submit(() -> messages.jdbi.withHandle(handle -> {
                    Request one = straight ? request : second;
                    Request two = straight ? second : request;
                    handle.begin();
                    store.joining(handle).execute(one, insert(one, "x"), (n, o, r) -> {});
                    bothHoldOne.await();
                    try {
                        store.joining(handle).execute(two, insert(two, "y"), (n, o, r) -> {});
                        handle.commit();
                        return false;
                    } catch (RetryTransactionException e) {
                        Request third = request("m3");
                        assertThatThrownBy(() ->
                                        another.joining(handle).execute(third, insert(third, "alone"), (n, o, r) -> {}))
                                .isInstanceOf(RetryTransactionException.class);
                        handle.rollback();
                        handle.begin();
                        assertThat(store.joining(handle).execute(third, insert(third, "z"), (n, o, r) -> {}))
                                .isInstanceOf(Executed.class);
                        handle.rollback();
                        return true;
                    }
                })));
            }
            // H2 may let both time out instead of choosing one; who is no victim has stored both.
            List<Boolean> isVictim =
                    List.of(victims.get(0).get(), victims.get(1).get());
            assertThat(isVictim).contains(true);
            assertThat(messages.rows()).isEqualTo(isVictim.contains(false) ? 2 : 0);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("S5: the savepoint is gone with the transaction: the caller is told, and nothing commits alone")
    void savepointGone_isRetryTransaction() {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});
        messages.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (call.startsWith("insert") && real != null) {
                    // What H2 and MariaDB do to the victim of a deadlock, savepoint and all.
                    real.rollback();
                    throw new SQLException("deadlock", "40001");
                }
            }
        });

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThatThrownBy(() ->
                            store.joining(handle).execute(request("m2"), insert(request("m2"), "x"), (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class);
            handle.rollback();
        });
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S5, J-13: H2 misses a row that was replaced under a locking read: run your transaction again")
    void rowGoneUnderLockingRead_isRetryTransaction() {
        assumeTrue(database == TestDatabase.H2, "an error of H2 alone");
        JdbcStore<String> store = store(Mode.TRANSACTIONAL);
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});
        messages.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (call.endsWith("FOR UPDATE")) {
                    // As seen at READ UNCOMMITTED, while another call takes an expired record over.
                    throw new SQLException("row not found in primary index", "90143");
                }
            }
        });

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThatThrownBy(() -> store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                    .isInstanceOf(RetryTransactionException.class);
            handle.rollback();
        });
    }
}
