package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.window.CaffeineWindow;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls inside a transaction of the caller. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class JoinedTransactionTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    private final Messages messages;
    private final Request request = request("m1");

    JoinedTransactionTest(TestDatabase database) {
        messages = new Messages(database);
    }

    private JdbcStore<String> store(Mode mode) {
        return mode == Mode.YOUR_TABLE ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    private static Idempotency<Handle, String> windowed(JdbcStore<String> store) {
        return Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
    }

    private @Nullable Object inWindow(Idempotency<Handle, String> sends) {
        return sends.window().get(request.keys().get(0));
    }

    private static Connection proxy(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                JoinedTransactionTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "close" -> null;
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> args != null && proxy == args[0];
                    default -> method.invoke(connection, args);
                });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "W-4: the inner call joins and returns, the outer rolls back: not in the window, and sent again it executes")
    void outerRollsBack_nothingIsPublished_andNextExecutes(Mode mode) {
        JdbcStore<String> store = store(mode);
        Idempotency<Handle, String> sends = windowed(store);

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThat(sends.using(store.joining(handle)).execute(request, insert(request, "ok")))
                    .isInstanceOf(Executed.class);
            handle.rollback();
        });

        assertThat(inWindow(sends)).isNull();
        assertThat(messages.rows()).isZero();
        assertThat(sends.execute(request, insert(request, "ok"))).isInstanceOf(Executed.class);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-1, S6: business insert, duplicate claim, select, commit: all work, the business row is kept")
    void repeatInsideTransaction_leavesItUsable(Mode mode) {
        JdbcStore<String> store = store(mode);
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});

        messages.jdbi.useTransaction(handle -> {
            handle.execute("insert into message (sender, message_id, body) values ('ben', 'other', 'business')");
            assertThat(store.joining(handle)
                            .execute(request, insert(request, "no"), (n, o, r) -> {})
                            .response())
                    .isEqualTo("ok");
            assertThat(handle.createQuery("select count(*) from message")
                            .mapTo(Integer.class)
                            .one())
                    .isEqualTo(2);
        });

        assertThat(messages.rows()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2, S6: an action that fails is undone to the savepoint, and the transaction goes on")
    void actionFails_onlyItsWorkIsUndone(Mode mode) {
        JdbcStore<String> store = store(mode);
        IllegalStateException failure = new IllegalStateException("action");

        messages.jdbi.useTransaction(handle -> {
            handle.execute("insert into message (sender, message_id, body) values ('ben', 'other', 'business')");
            assertThatThrownBy(() -> store.joining(handle)
                            .execute(
                                    request,
                                    h -> {
                                        insert(h, request, "half");
                                        throw failure;
                                    },
                                    (n, o, r) -> {}))
                    .isSameAs(failure);
            assertThat(store.joining(handle).execute(request, insert(request, "ok"), (n, o, r) -> {}))
                    .isInstanceOf(Executed.class);
        });

        assertThat(messages.rows()).isEqualTo(2);
    }

    @Test
    @DisplayName(
            "W1: nothing is published by joined calls, not even by another handle on a second proxy of one transaction")
    void repeatOfOpenTransaction_isNotPublished() throws SQLException {
        Idempotency<Handle, String> sends = windowed(store(Mode.TRANSACTIONAL));
        JdbcStore<String> store = store(Mode.TRANSACTIONAL);
        try (Connection connection = messages.real.getConnection()) {
            connection.setAutoCommit(false);
            // As a transaction-aware data source hands them out.
            Handle one = Jdbi.create(() -> proxy(connection)).open();
            Handle two = Jdbi.create(() -> proxy(connection)).open();

            sends.using(store.joining(one)).execute(request, insert(request, "ok"));
            assertThat(sends.using(store.joining(two)).execute(request, insert(request, "no")))
                    .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
            connection.rollback();
        }

        assertThat(inWindow(sends)).isNull();
        assertThat(sends.execute(request, insert(request, "ok"))).isInstanceOf(Executed.class);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-2: an action that ends the caller's transaction is told so")
    void actionEndsCallersTransaction_isUnknown(Mode mode) {
        JdbcStore<String> store = store(mode);

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThatThrownBy(() -> store.joining(handle)
                            .execute(
                                    request,
                                    h -> {
                                        h.rollback();
                                        return insert(h, request, "alone");
                                    },
                                    (n, o, r) -> {}))
                    .isInstanceOf(OutcomeUnknownException.class);
        });
    }

    @Test
    @DisplayName("W1: a row of the caller's own open transaction, found on an own table, is not published")
    void ownTableRowOfOpenTransaction_isNotPublished() {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        List<IdempotencyKey> published = new ArrayList<>();

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            insert(handle, request, "by hand");
            assertThat(store.joining(handle)
                            .execute(request, insert(request, "no"), (n, o, r) -> published.addAll(n))
                            .response())
                    .isEqualTo("by hand");
            handle.rollback();
        });

        assertThat(published).isEmpty();
    }

    @Test
    @DisplayName("W1: what was executed joined is remembered by the caller, after the commit")
    void remembered_afterCommit_isInWindow() {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        Idempotency<Handle, String> sends = windowed(store);

        var outcome = messages.jdbi.inTransaction(
                handle -> sends.using(store.joining(handle)).execute(request, insert(request, "ok")));
        sends.remember(request, outcome);

        assertThat(sends.execute(request, insert(request, "no")))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.WINDOW));
    }

    @Test
    @DisplayName("S8: a new name beside a known one becomes a name of it with the caller's commit, and not before")
    void newName_belongsToCallersTransaction() {
        JdbcStore<String> store = store(Mode.TRANSACTIONAL);
        Request first = request.and(businessKey("b1"));
        Request retry = request("m2").and(businessKey("b1"));
        List<IdempotencyKey> published = new ArrayList<>();
        store.execute(first, insert(first, "ok"), (n, o, r) -> {});

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThat(store.joining(handle).execute(retry, insert(retry, "no"), (n, o, r) -> published.addAll(n)))
                    .isEqualTo(new Replayed<>("ok", businessKey("b1"), Source.STORE));
            handle.rollback();
        });

        assertThat(published).isEmpty();
        assertThat(store.execute(request("m2"), insert(request("m2"), "new"), (n, o, r) -> {}))
                .isInstanceOf(Executed.class);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-8: keys of different originals conflict in a joined call too")
    void keysOfDifferentOriginals_conflict(Mode mode) {
        JdbcStore<String> store = store(mode);
        for (int i = 1; i <= 2; i++) {
            Request first = request("m" + i).and(businessKey("b" + i));
            store.execute(first, insert(first, "ok"), (n, o, r) -> {});
        }
        Request crossed = request("m1").and(businessKey("b2"));

        messages.jdbi.useTransaction(handle -> assertThat(
                        store.joining(handle).execute(crossed, insert(crossed, "no"), (n, o, r) -> {}))
                .isEqualTo(new Conflict<>(crossed.keys())));
    }

    @Test
    @DisplayName("S6: a handle that is in no transaction is refused, and nothing is touched")
    void handleOutsideTransaction_isRefused() {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        messages.dataSource.forget();

        messages.jdbi.useHandle(handle -> assertThatThrownBy(
                        () -> store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no transaction"));

        assertThat(messages.dataSource.calls()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("W-3, S6: a joined call inside an after-commit callback is refused, not silently lost")
    void joinedInsideAfterCommit_isRefused(Mode mode) {
        JdbcStore<String> store = store(mode);

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            handle.afterCommit(() -> assertThatThrownBy(
                            () -> store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                    .isInstanceOf(IllegalStateException.class));
            handle.commit();
        });

        assertThat(messages.rows()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-10: a pool of 2, two threads inside transactions of their own, both join: both finish")
    void poolOfTwo_bothJoinedCallsFinish(Mode mode) throws Exception {
        store(mode);
        HikariConfig config = new HikariConfig();
        config.setDataSource(messages.dataSource);
        config.setMaximumPoolSize(2);
        CyclicBarrier bothInside = new CyclicBarrier(2);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Jdbi jdbi = Jdbi.create(pool);
            JdbcStore<String> store = mode == Mode.YOUR_TABLE
                    ? JdbcStores.yourTable(jdbi, Messages::find)
                    : JdbcStores.transactional(jdbi, Codec.utf8());
            List<Future<String>> answers = new ArrayList<>();
            for (String id : List.of("p1", "p2")) {
                answers.add(threads.submit(() -> jdbi.inTransaction(handle -> {
                    bothInside.await();
                    Request own = request(id);
                    return store.joining(handle)
                            .execute(own, insert(own, id), (n, o, r) -> {})
                            .response();
                })));
            }
            assertThat(answers.get(0).get()).isEqualTo("p1");
            assertThat(answers.get(1).get()).isEqualTo("p2");
        } finally {
            threads.shutdownNow();
        }
        assertThat(messages.rows()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S6: no statement but the savepoint is added to a first call; no second connection is taken")
    void joinedFirst_takesNoSecondConnection(Mode mode) {
        JdbcStore<String> store = store(mode);
        messages.dataSource.forget();

        messages.jdbi.useTransaction(
                handle -> store.joining(handle).execute(request, insert(request, "ok"), (n, o, r) -> {}));

        assertThat(messages.dataSource.mostConnections()).isEqualTo(1);
        assertThat(messages.dataSource.calls())
                .startsWith("setSavepoint")
                .endsWith("releaseSavepoint", "commit")
                .hasSize(mode == Mode.YOUR_TABLE ? 4 : 6);
    }
}
