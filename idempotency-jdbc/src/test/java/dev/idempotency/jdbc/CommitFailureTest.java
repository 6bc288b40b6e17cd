package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Commits whose acknowledgement gets lost or that the database refuses, deadlocks and lock time-outs. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class CommitFailureTest {

    private final Messages messages;
    private final Request request = request("m1");
    private final List<IdempotencyKey> published = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();

    private final TestDatabase database;

    CommitFailureTest(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
    }

    private Outcome<String> execute(JdbcStore<String> store) {
        return store.execute(request, counted(), (names, original, remaining) -> published.addAll(names));
    }

    private dev.idempotency.Action<Handle, String, RuntimeException> counted() {
        return handle -> {
            runs.incrementAndGet();
            return insert(handle, request, "ok");
        };
    }

    private void failOnce(String call, boolean after, SQLException with) {
        AtomicInteger times = new AtomicInteger();
        messages.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String now) throws SQLException {
                if (!after && now.equals(call) && times.getAndIncrement() == 0) {
                    throw with;
                }
            }

            @Override
            public void after(Connection real, String now) throws SQLException {
                if (after && now.equals(call) && times.getAndIncrement() == 0) {
                    throw with;
                }
            }
        });
    }

    @Test
    @DisplayName(
            "J-12, S4: the commit is applied, then the connection drops: unknown, nothing published, a retry replays")
    void commitAcknowledgementLost_isUnknown_andRetryReplays() {
        JdbcStore<String> store = messages.store();
        failOnce("commit", true, new SQLException("connection reset", "08006"));

        assertThatThrownBy(() -> execute(store)).isInstanceOf(OutcomeUnknownException.class);

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isEqualTo(1);
        assertThat(execute(store)).isInstanceOf(Replayed.class);
    }

    @Test
    @DisplayName("S4: the connection drops before the commit arrives: unknown as well, and a retry executes")
    void commitLost_isUnknown_andRetryExecutes() {
        JdbcStore<String> store = messages.store();
        failOnce("commit", false, new SQLException("connection reset", "08006"));

        assertThatThrownBy(() -> execute(store)).isInstanceOf(OutcomeUnknownException.class);

        assertThat(published).isEmpty();
        assertThat(execute(store)).isInstanceOf(Executed.class);
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S3: a violation that only the commit reports (a deferred constraint) is read like one at the insert")
    void violationAtCommit_isReadAsConflict() {
        JdbcStore<String> store = messages.store();
        execute(store);
        published.clear();
        // The row of the first call is there, and the second one's insert is let pass until its commit.
        failOnce("commit", false, new SQLException("deferred", "23505"));

        Outcome<String> outcome =
                store.execute(request, handle -> "not stored", (names, original, remaining) -> published.addAll(names));

        assertThat(outcome).isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
        assertThat(published).containsExactly(request.keys().get(0));
    }

    @Test
    @DisplayName("S5: a serialization failure at commit runs the whole transaction again")
    void serializationFailureAtCommit_runsAgain() {
        JdbcStore<String> store = messages.store();
        failOnce("commit", false, new SQLException("could not serialize", "40001"));

        assertThat(execute(store)).isInstanceOf(Executed.class);

        assertThat(runs).hasValue(2);
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S5: bounded tries, then an error that says to retry")
    void deadlockEachTime_isRetryable_andStoresNothing() {
        JdbcStore<String> store = messages.store();

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "ok");
                            throw new IllegalStateException(new SQLException("deadlock", "40001"));
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(RetryableException.class)
                .hasRootCauseInstanceOf(SQLException.class);

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("S5: a deadlock that the action swallows has undone its insert: the transaction is run again")
    void deadlockSwallowedByAction_runsAgain() {
        JdbcStore<String> store = messages.store();
        failOnce("select 1", false, new SQLException("deadlock", "40001"));

        Outcome<String> outcome = store.execute(
                request,
                handle -> {
                    runs.incrementAndGet();
                    try {
                        handle.execute("select 1");
                    } catch (RuntimeException e) {
                        return "as if nothing had happened";
                    }
                    return insert(handle, request, "ok");
                },
                (names, original, remaining) -> published.addAll(names));

        assertThat(outcome).isEqualTo(new Executed<>("ok"));
        assertThat(runs).hasValue(2);
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "J-13: another transaction holds the key: lock time-outs are tried again, then retryable, never a repeat")
    void keyHeldElsewhere_isRetryable() throws SQLException {
        assumeTrue(database == TestDatabase.H2, "the time-out is set in H2's way");
        JdbcStore<String> store = messages.store();
        messages.jdbi.useHandle(handle -> handle.execute("set default_lock_timeout 5"));
        try (Connection holder = messages.real.getConnection()) {
            holder.setAutoCommit(false);
            holder.createStatement()
                    .execute("insert into message (sender, message_id, body) values ('ana', 'm1', 'held')");

            assertThatThrownBy(() -> execute(store)).isInstanceOf(RetryableException.class);
            assertThat(runs.get()).isGreaterThan(1);
            assertThat(published).isEmpty();
            holder.rollback();
        }
        assertThat(execute(store)).isEqualTo(new Executed<>("ok"));
    }

    @Test
    @DisplayName(
            "S2: the rollback fails too: the action's exception passes, and nothing is committed by turning autocommit on")
    void rollbackFails_nothingIsCommitted() {
        JdbcStore<String> store = messages.store();
        failOnce("rollback", false, new SQLException("no", "08006"));
        IllegalStateException failure = new IllegalStateException("action");

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "ok");
                            throw failure;
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isSameAs(failure)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));

        assertThat(messages.rows()).isZero();
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    @Test
    @DisplayName("W-2: somebody's after-commit callback throws: no rollback is tried, the row stays, the call succeeds")
    void afterCommitCallbackThrows_callSucceeds() {
        JdbcStore<String> store = messages.store();
        messages.dataSource.forget();
        Outcome<String> outcome = store.execute(
                request,
                handle -> {
                    handle.afterCommit(() -> {
                        throw new AssertionError("callback");
                    });
                    return insert(handle, request, "ok");
                },
                (names, original, remaining) -> published.addAll(names));

        assertThat(outcome).isInstanceOf(Executed.class);
        assertThat(published).hasSize(1);
        assertThat(messages.rows()).isEqualTo(1);
        assertThat(messages.dataSource.calls()).doesNotContain("rollback");
    }
}
