package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.testkit.faults.Fault;
import dev.idempotency.window.CaffeineWindow;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that own their transaction, where such libraries are usually wrong: commits, rollbacks, violations. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class OwnTransactionTest {

    private final Messages messages;
    private final Request request = request("m1");
    private final List<IdempotencyKey> published = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();

    private final TestDatabase database;

    OwnTransactionTest(TestDatabase database) {
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
            "S3: a violation of another unique key comes back unchanged, after one more try; of what is no key, at once")
    void otherConstraint_isThrownUnchanged() {
        JdbcStore<String> store = messages.store();
        Request other = request("m2").and(businessKey("b1"));
        store.execute(other, insert(other, "x"), (n, o, r) -> {});
        List<Throwable> thrown = new ArrayList<>();

        // The business ID is taken, and this request does not name it.
        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> noting(thrown, () -> insert(handle, request.and(businessKey("b1")), "y")),
                        (names, original, remaining) -> published.addAll(names)))
                .satisfies(e -> assertThat(e).isSameAs(thrown.get(1)));
        assertThat(thrown).hasSize(2);

        thrown.clear();
        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> noting(
                                thrown,
                                () -> ""
                                        + handle.execute("insert into message (sender, message_id) values ('a', 'b')")),
                        (names, original, remaining) -> published.addAll(names)))
                .satisfies(e -> assertThat(e).isSameAs(thrown.get(0)));
        assertThat(thrown).hasSize(1);
        assertThat(published).isEmpty();
    }

    private static String noting(List<Throwable> thrown, java.util.function.Supplier<String> action) {
        try {
            return action.get();
        } catch (RuntimeException e) {
            thrown.add(e);
            throw e;
        }
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
    @DisplayName("S2: an InterruptedException of the action is the action's, and passes unchanged")
    void actionThrowsInterruptedException_passes() {
        InterruptedException failure = new InterruptedException("action");

        assertThatThrownBy(() -> messages.store()
                        .execute(
                                request,
                                handle -> {
                                    throw failure;
                                },
                                (n, o, r) -> {}))
                .isSameAs(failure);
    }

    @Test
    @DisplayName("J-2: on an own table, an action that commits or rolls back by itself is unknown, and not published")
    void actionEndsTransaction_isUnknown() {
        JdbcStore<String> store = messages.store();

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "gone");
                            handle.rollback();
                            return "gone";
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(OutcomeUnknownException.class);
        assertThat(messages.rows()).isZero();
        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "kept");
                            handle.commit();
                            return "kept";
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(OutcomeUnknownException.class);
        assertThat(published).isEmpty();
        assertThat(execute(store))
                .isEqualTo(new Replayed<>("kept", request.keys().get(0), Source.STORE));
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    @Test
    @DisplayName("S2: checked exceptions and errors of the action pass unchanged, and leave nothing")
    void actionThrows_nothingIsStored_andNextExecutes() {
        Idempotency<Handle, String> sends = messages.sends();
        IOException checked = new IOException("disk");
        AssertionError error = new AssertionError("bug");

        assertThatThrownBy(() -> sends.execute(request, handle -> {
                    insert(handle, request, "ok");
                    throw checked;
                }))
                .isSameAs(checked);
        assertThatThrownBy(() -> sends.<RuntimeException>execute(request, handle -> {
                    insert(handle, request, "ok");
                    throw error;
                }))
                .isSameAs(error);

        assertThat(messages.rows()).isZero();
        assertThat(sends.execute(request, insert(request, "ok"))).isInstanceOf(Executed.class);
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

    @Test
    @DisplayName("W-3: execute from inside an after-commit callback gets a fresh transaction; the same key is refused")
    void executeInsideAfterCommitCallback_hasTransactionOfItsOwn() {
        Idempotency<Handle, String> sends = messages.sends();
        Request other = request("m2");
        List<Outcome<String>> inside = new ArrayList<>();

        sends.execute(request, handle -> {
            handle.afterCommit(() -> {
                inside.add(sends.execute(other, insert(other, "other")));
                inside.add(sends.execute(request, insert(request, "same")));
            });
            return insert(handle, request, "ok");
        });

        assertThat(inside.get(0)).isEqualTo(new Executed<>("other"));
        assertThat(inside.get(1)).isInstanceOf(InProgress.class);
        assertThat(messages.rows()).isEqualTo(2);
    }

    @Test
    @DisplayName(
            "S6: a connection that is in somebody's transaction already is refused, and that transaction is not touched")
    void connectionBoundToOpenTransaction_isRefused() throws SQLException {
        try (Connection bound = messages.real.getConnection()) {
            AtomicReference<Connection> handOut = new AtomicReference<>(messages.real.getConnection());
            // As a transaction-aware data source does: the thread's own connection, whose close does nothing.
            Jdbi aware = Jdbi.create(() -> handOut.get());
            JdbcStore<String> store = JdbcStores.yourTable(aware, Messages::find);
            bound.setAutoCommit(false);
            handOut.set(unclosable(bound));

            assertThatThrownBy(() -> execute(store))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("joining");

            assertThat(runs).hasValue(0);
            assertThat(bound.getAutoCommit()).isFalse();
            bound.rollback();
        }
    }

    private static Connection unclosable(Connection connection) {
        return (Connection) java.lang.reflect.Proxy.newProxyInstance(
                OwnTransactionTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    return method.getName().equals("close") ? null : method.invoke(connection, args);
                });
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Connection.TRANSACTION_READ_UNCOMMITTED,
                Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_SERIALIZABLE
            })
    @DisplayName("A pool whose connections come with autocommit off, at any isolation level")
    void poolWithoutAutocommit_worksAtEachIsolation(int isolation) {
        Jdbi pool = Jdbi.create(() -> {
            Connection connection = messages.dataSource.getConnection();
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(isolation);
            return connection;
        });
        JdbcStore<String> own = JdbcStores.yourTable(
                pool, Messages::find, YourTableOptions.defaults().uniqueKey("message", "sender", "message_id"));
        RecordStore<String> library = JdbcStores.transactional(pool, Codec.utf8());
        Request other = request("m2");

        assertThat(execute(own)).isInstanceOf(Executed.class);
        assertThat(execute(own)).isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
        assertThat(library.execute(other, insert(other, "x"), (n, o, r) -> {})).isInstanceOf(Executed.class);
        assertThat(library.execute(other, insert(other, "y"), (n, o, r) -> {}).response())
                .isEqualTo("x");

        assertThat(messages.rows()).isEqualTo(2);
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    @Test
    @DisplayName("J-17: proxied connections that wrap exceptions: causes are walked")
    void wrappedViolation_isReadAsConflict() {
        JdbcStore<String> store = messages.store();
        execute(store);

        Outcome<String> outcome = store.execute(
                request,
                handle -> {
                    try {
                        return insert(handle, request, "twice");
                    } catch (RuntimeException e) {
                        SQLException outer = new SQLException("proxy", "HY000");
                        outer.setNextException(new SQLException("wrapped", new IOException(e)));
                        throw new IllegalStateException("pool", outer);
                    }
                },
                (names, original, remaining) -> {});

        assertThat(outcome).isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
    }

    @Test
    @DisplayName(
            "J-17: a data source whose proxies throw undeclared wrappers gets the same verdict from the library's table")
    void undeclaredWrapper_isReadAsConflict() {
        RecordStore<String> store = JdbcStores.transactional(messages.jdbi, Codec.utf8());
        store.execute(request, handle -> "ok", (n, o, r) -> {});
        messages.dataSource.fault(Fault.wrapping());

        assertThat(store.execute(request, handle -> "no", (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
    }

    @Test
    @DisplayName(
            "K-2: a response that the caller mutates after the call is replayed as it was stored, by window and by store")
    void mutatedResponse_isReplayedAsStored() {
        byte[] response = new byte[70_000];
        Idempotency<Handle, byte[]> sends = Idempotency.with(JdbcStores.transactional(messages.jdbi, Codec.bytes()))
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        sends.execute(request, handle -> response);
        response[0] = 9;

        byte[] fromWindow = sends.execute(request, handle -> response).response();
        assertThat(fromWindow).isEqualTo(new byte[70_000]);
        sends.window().clear();
        byte[] fromStore = sends.execute(request, handle -> response).response();
        fromStore[0] = 9;
        assertThat(sends.execute(request, handle -> response).response()).isEqualTo(new byte[70_000]);
    }

    @Test
    @DisplayName("An action that prefers ON CONFLICT DO NOTHING throws AlreadyStored")
    void alreadyStored_isReadAsConflict() {
        JdbcStore<String> store = messages.store();
        execute(store);

        assertThat(store.<RuntimeException>execute(
                        request,
                        handle -> {
                            throw new AlreadyStored();
                        },
                        (names, original, remaining) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
    }

    @Test
    @DisplayName("J-8: claims of (m1,b2) conflict and name both keys; the own table finds by b1 for (m3,b1)")
    void keysOfDifferentRows_conflict() {
        Idempotency<Handle, String> sends = messages.sends();
        for (int i = 1; i <= 2; i++) {
            Request first = request("m" + i).and(businessKey("b" + i));
            sends.execute(first, insert(first, "ok" + i));
        }
        Request crossed = request("m1").and(businessKey("b2"));
        Request retried = request("m3").and(businessKey("b1"));

        assertThat(sends.execute(crossed, insert(crossed, "no")))
                .isEqualTo(new Conflict<>(List.of(messageKey("m1"), businessKey("b2"))));
        assertThat(sends.execute(retried, insert(retried, "no")))
                .isEqualTo(new Replayed<>("ok1", businessKey("b1"), Source.STORE));
        assertThat(messages.rows()).isEqualTo(2);
    }

    @Test
    @DisplayName("S8: with an own table only keys that a row has are published, so m3 alone asks the store")
    void newKeyBesideKnown_isNotPublished() {
        Idempotency<Handle, String> sends = Idempotency.with(messages.store())
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        Request first = request("m1").and(businessKey("b1"));
        Request retried = request("m3").and(businessKey("b1"));
        sends.execute(first, insert(first, "ok"));
        sends.execute(retried, insert(retried, "no"));

        assertThat(sends.window().get(messageKey("m3"))).isNull();
        assertThat(sends.execute(request("m3"), insert(request("m3"), "new"))).isEqualTo(new Executed<>("new"));
    }

    @Test
    @DisplayName("S7: a finder that finds the row of another key is an error, not a replay")
    void looseFinder_isAnError() {
        JdbcStore<String> store = JdbcStores.yourTable(
                messages.jdbi,
                (handle, key) -> handle.createQuery(
                                "select id, message_id, body from message where lower(message_id) = ?")
                        .bind(0, key.id().toLowerCase(java.util.Locale.ROOT))
                        .map((row, context) -> new Original<>(row.getLong(1), row.getString(3), null)
                                .recordedAs(messageKey(row.getString(2))))
                        .findFirst());
        Request upper = request("M1");
        execute(store);

        assertThatThrownBy(() -> store.<RuntimeException>execute(
                        upper,
                        handle -> {
                            throw new AlreadyStored();
                        },
                        (names, original, remaining) -> {}))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("loosely");
    }

    @Test
    @DisplayName("S12: a response that can't be encoded rolls back, and the next call executes")
    void unencodableResponse_rollsBack() {
        RecordStore<String> store = JdbcStores.transactional(
                messages.jdbi,
                Codec.of(
                        text -> {
                            if (text.equals("bad")) {
                                throw new IllegalArgumentException("no form");
                            }
                            return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
                        },
                        bytes -> new String(bytes, java.nio.charset.StandardCharsets.UTF_8)));

        assertThatThrownBy(() -> store.execute(request, insert(request, "bad"), (n, o, r) -> {}))
                .isInstanceOf(StoreException.class);

        assertThat(messages.rows()).isZero();
        assertThat(store.execute(request, insert(request, "good"), (n, o, r) -> {}))
                .isEqualTo(new Executed<>("good"));
    }

    @Test
    @DisplayName(
            "S12: an action that committed by itself and died leaves a record without response: an error, not a replay")
    void recordWithoutResponse_isUnreadable() {
        RecordStore<String> store = JdbcStores.transactional(messages.jdbi, Codec.utf8());

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "half");
                            handle.getConnection().commit();
                            throw new SQLException("died", "08006");
                        },
                        (n, o, r) -> {}))
                .isInstanceOf(SQLException.class);

        assertThatThrownBy(() -> store.execute(request, insert(request, "again"), (n, o, r) -> {}))
                .isInstanceOf(UnreadableRecordException.class);
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S12, J-2: an action that rolled back by itself is told so, and nothing is published")
    void actionRolledBackByItself_isAnError() {
        RecordStore<String> store = JdbcStores.transactional(messages.jdbi, Codec.utf8());

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "gone");
                            handle.getConnection().rollback();
                            return "gone";
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(OutcomeUnknownException.class);

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("No connection: retryable, and the action has not run")
    void noConnection_isRetryable() {
        JdbcStore<String> store = messages.store();
        failOnce("getConnection", false, new SQLException("pool exhausted", "08001"));

        assertThatThrownBy(() -> execute(store)).isInstanceOf(RetryableException.class);

        assertThat(runs).hasValue(0);
    }

    @Test
    @DisplayName("J-11: the original is read on the connection that saw the conflict")
    void originalIsRead_onSameConnection() {
        JdbcStore<String> store = messages.store();
        execute(store);
        List<Connection> seen = new ArrayList<>();
        JdbcStore<String> watching = JdbcStores.yourTable(messages.jdbi, (handle, key) -> {
            seen.add(handle.getConnection());
            return Messages.find(handle, key);
        });

        watching.execute(
                request,
                handle -> {
                    seen.add(handle.getConnection());
                    return insert(handle, request, "twice");
                },
                (n, o, r) -> {});

        assertThat(seen)
                .hasSize(2)
                .allSatisfy(connection -> assertThat(connection).isSameAs(seen.get(0)));
    }

    @Test
    @DisplayName("A call with the same key from inside its own action is refused as in progress, not left to hang")
    void sameKeyInsideAction_isInProgress() {
        Idempotency<Handle, String> own = messages.sends();
        RecordStore<String> library = JdbcStores.transactional(messages.jdbi, Codec.utf8());
        Idempotency<Handle, String> recorded = Idempotency.with(library).build();
        List<Outcome<String>> inside = new ArrayList<>();

        own.execute(request, handle -> {
            inside.add(own.execute(request, insert(request, "inner")));
            return insert(handle, request, "outer");
        });
        recorded.execute(request("m2"), handle -> {
            inside.add(recorded.using(library.joining(handle)).execute(request("m2"), h -> "inner"));
            return "outer";
        });

        assertThat(inside).hasSize(2).allSatisfy(outcome -> assertThat(outcome).isInstanceOf(InProgress.class));
    }
}
