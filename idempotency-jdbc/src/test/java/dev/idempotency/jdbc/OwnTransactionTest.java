package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.testkit.faults.Fault;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
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

    OwnTransactionTest(TestDatabase database) {
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

    private static Connection unclosable(Connection connection) {
        return (Connection) java.lang.reflect.Proxy.newProxyInstance(
                OwnTransactionTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    return method.getName().equals("close") ? null : method.invoke(connection, args);
                });
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
