package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
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
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** How a refusal is told from other failures, and what the original that is read then means. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class ConflictReadTest {

    private final Messages messages;
    private final Request request = request("m1");
    private final List<IdempotencyKey> published = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();

    ConflictReadTest(TestDatabase database) {
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
}
