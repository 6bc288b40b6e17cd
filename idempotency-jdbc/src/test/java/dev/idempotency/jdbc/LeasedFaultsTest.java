package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A database that loses questions and answers, and that others are in the way of. */
@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
class LeasedFaultsTest {

    private static final int UNTIL_MENDED = 1_000;

    /** Where the connection breaks: before the database has done it, or after. */
    private enum When {
        QUESTION_LOST,
        ANSWER_LOST
    }

    /** How connections come out of the pool; without autocommit each statement needs a commit of its own. */
    private enum Pool {
        AUTOCOMMIT,
        NO_AUTOCOMMIT
    }

    @AutoClose
    private final LeaseTable table;

    private final Request request = request("m1");
    private final Request both = request("m1").and(businessKey("b1"));
    private final AtomicInteger runs = new AtomicInteger();

    LeasedFaultsTest(TestDatabase database) {
        table = new LeaseTable(database);
    }

    private static Predicate<String> starting(String with) {
        return call -> call.startsWith(with);
    }

    private void breakConnection(When when, int times, Predicate<String> at) {
        AtomicInteger left = new AtomicInteger(times);
        table.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (when == When.QUESTION_LOST) {
                    breakAt(real, call);
                }
            }

            @Override
            public void after(Connection real, String call) throws SQLException {
                if (when == When.ANSWER_LOST) {
                    breakAt(real, call);
                }
            }

            private void breakAt(@Nullable Connection real, String call) throws SQLException {
                if (real != null && at.test(call) && left.getAndDecrement() > 0) {
                    real.close();
                    throw new SQLException("the connection is gone", "08006");
                }
            }
        });
    }

    private void mend() {
        table.dataSource.fault(Fault.none());
    }

    private IdempotencyStore<Lease, String> store(Pool pool) {
        if (pool == Pool.AUTOCOMMIT) {
            return table.store();
        }
        return JdbcStores.leased(
                Jdbi.create(() -> {
                    Connection connection = table.dataSource.getConnection();
                    connection.setAutoCommit(false);
                    return connection;
                }),
                Codec.utf8(),
                LeaseOptions.defaults().lease(LEASE));
    }

    private String run(Lease lease) {
        return "run " + runs.incrementAndGet() + ", taken over " + lease.takenOver();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S4: a claim whose question or answer is lost is repeated: one run, and no takeover")
    void claimLost_runsOnce(When when) {
        IdempotencyStore<Lease, String> store = table.store();
        breakConnection(when, 3, starting("INSERT"));

        assertThat(store.execute(both, this::run, (n, o, r) -> {}))
                .isEqualTo(new Executed<>("run 1, taken over false"));
        assertThat(table.count()).isEqualTo(2);
        assertThat(table.dataSource.openConnections()).isZero();
    }

    @Test
    @DisplayName("S4, J-12: without autocommit the answer to the commit is lost: the same")
    void claimsCommitLost_runsOnce() {
        IdempotencyStore<Lease, String> store = store(Pool.NO_AUTOCOMMIT);
        breakConnection(When.ANSWER_LOST, 2, starting("commit"));

        assertThat(store.execute(both, this::run, (n, o, r) -> {}))
                .isEqualTo(new Executed<>("run 1, taken over false"));
        assertThat(answer(store, both, "no").response()).isEqualTo("run 1, taken over false");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S4: a takeover whose commit or its answer is lost is repeated, and still told")
    void takeoverLost_isStillATakeover(When when) {
        IdempotencyStore<Lease, String> store = table.store();
        table.hold(request);
        table.pass(LEASE);
        breakConnection(when, 1, starting("commit"));

        assertThat(store.execute(both, this::run, (n, o, r) -> {})).isEqualTo(new Executed<>("run 1, taken over true"));
    }

    @Test
    @DisplayName("S4: no answer to any claim: nothing runs, and the key may be taken until the lease ends")
    void claimNeverAnswered_isUnknown() {
        IdempotencyStore<Lease, String> store = table.store();
        breakConnection(When.ANSWER_LOST, UNTIL_MENDED, starting("INSERT").or(starting("SELECT")));

        assertThatThrownBy(() -> store.execute(request, this::run, (n, o, r) -> {}))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("nothing was run");
        assertThat(runs).hasValue(0);

        mend();
        assertThat(answer(store, request, "no")).isInstanceOf(InProgress.class);
        table.pass(LEASE);
        assertThat(store.execute(request, this::run, (n, o, r) -> {}))
                .isEqualTo(new Executed<>("run 1, taken over true"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S4: a completion whose question or answer is lost is repeated, published once, and replayed")
    void completeLost_isRepeated(When when) {
        IdempotencyStore<Lease, String> store = table.store();
        breakConnection(when, 3, starting("UPDATE"));
        AtomicInteger published = new AtomicInteger();

        assertThat(store.execute(both, this::run, (n, o, r) -> published.incrementAndGet()))
                .isInstanceOf(Executed.class);
        assertThat(published).hasValue(1);
        assertThat(answer(store, both, "no"))
                .isEqualTo(new Replayed<>("run 1, taken over false", messageKey("m1"), Source.STORE));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S4, J-12: a completion that is never answered is unknown and not published; a retry finds out")
    void completeNeverAnswered_isUnknown(Pool pool) {
        IdempotencyStore<Lease, String> store = store(pool);
        breakConnection(
                When.ANSWER_LOST,
                UNTIL_MENDED,
                pool == Pool.AUTOCOMMIT ? starting("UPDATE") : call -> runs.get() > 0 && call.equals("commit"));

        assertThatThrownBy(() -> store.execute(request, this::run, (n, o, r) -> {
                    throw new AssertionError("published");
                }))
                .isInstanceOf(OutcomeUnknownException.class);

        mend();
        assertThat(answer(store, request, "no")).isInstanceOf(Replayed.class);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S4, S2: a release whose question or answer is lost is repeated, and the action's exception unchanged")
    void releaseLost_isReleased(When when) {
        IdempotencyStore<Lease, String> store = table.store();
        breakConnection(when, 3, starting("DELETE"));
        IllegalStateException failure = new IllegalStateException("action");

        assertThatThrownBy(() -> store.execute(
                        both,
                        lease -> {
                            throw failure;
                        },
                        (n, o, r) -> {}))
                .isSameAs(failure)
                .hasNoSuppressedExceptions();
        assertThat(table.count()).isZero();
        assertThat(answer(store, both, "next")).isEqualTo(new Executed<>("next"));
    }

    @Test
    @DisplayName(
            "L-5: a renewal fails while the action runs: it can see it, and completing is refused after a takeover")
    void renewalFails_isSeen() {
        IdempotencyStore<Lease, String> store = table.store();
        breakConnection(When.QUESTION_LOST, 1, starting("UPDATE"));

        assertThatThrownBy(() -> store.execute(
                        request,
                        lease -> {
                            Duration before = lease.remaining();
                            assertThatThrownBy(() -> lease.extend(LEASE.multipliedBy(2)))
                                    .isInstanceOf(OutcomeUnknownException.class);
                            assertThat(lease.remaining()).isLessThanOrEqualTo(before);
                            table.pass(LEASE);
                            table.hold(request);
                            assertThatThrownBy(() -> lease.extend(LEASE)).isInstanceOf(LeaseLostException.class);
                            assertThat(lease.remaining()).isZero();
                            return "late";
                        },
                        (n, o, r) -> {}))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    @DisplayName("S5: a deadlock or a lock time-out in any statement is run again, and never reads as a repeat")
    void inTheWay_isRunAgain() {
        IdempotencyStore<Lease, String> store = table.store();
        for (SQLException reason : inTheWay()) {
            for (String at : List.of("INSERT", "UPDATE", "SELECT", "commit")) {
                AtomicInteger left = new AtomicInteger(2);
                table.dataSource.fault(new Fault() {
                    @Override
                    public void before(@Nullable Connection real, String call) throws SQLException {
                        if (call.startsWith(at) && left.getAndDecrement() > 0) {
                            throw reason;
                        }
                    }
                });
                Request fresh = request(reason.getSQLState() + reason.getErrorCode() + at);
                table.hold(fresh);
                table.pass(LEASE);

                assertThat(store.execute(fresh, this::run, (n, o, r) -> {}).response())
                        .endsWith("taken over true");
                assertThat(left.get()).as(reason + at).isNotPositive();
            }
        }
        assertThat(runs).hasValue(4 * inTheWay().size());
    }

    private List<SQLException> inTheWay() {
        SQLException serialization = new SQLException("in the way", "40001");
        return switch (table.database) {
            case H2 ->
                List.of(
                        serialization,
                        new SQLException("in the way", "HYT00"),
                        new SQLException("in the way", "90131"));
            case POSTGRESQL_14, POSTGRESQL_17 -> List.of(serialization, new SQLException("in the way", "55P03"));
            case MARIADB, MARIADB_SNAPSHOT ->
                List.of(
                        serialization,
                        new SQLException("in the way", "HY000", 1205),
                        new SQLException("in the way", "HY000", 1020));
        };
    }

    @Test
    @DisplayName("S5: always in the way: retryable, and nothing was run")
    void alwaysInTheWay_isRetryable() {
        IdempotencyStore<Lease, String> store = table.store();
        table.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (call.startsWith("INSERT")) {
                    throw new SQLException("in the way", "40001");
                }
            }
        });

        assertThatThrownBy(() -> store.execute(request, this::run, (n, o, r) -> {}))
                .isInstanceOf(RetryableException.class)
                .hasMessageContaining("attempts");
        assertThat(runs).hasValue(0);
        assertThat(table.count()).isZero();
    }
}
