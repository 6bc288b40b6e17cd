package dev.idempotency.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStore;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.jdbc.RecordStore;
import dev.idempotency.jdbc.YourTableOptions;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseBackend;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.store.LeasedStore;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;

/** The example on the README's first screen, run. */
class ReadmeTest {

    private record Ack(long row) {}

    private final Jdbi jdbi = Jdbi.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    private final String sender = "ana";
    private final String businessSystem = "erp";
    private Optional<String> businessId = Optional.of("invoice-1");
    private final String body = "your invoice";
    private final String message = body;
    private String messageId = "m1";

    private Optional<Original<Ack>> findOriginal(Handle handle, IdempotencyKey key) {
        boolean byMessage = key.namespace().equals("im");
        String scope = byMessage ? "sender" : "system";
        String id = byMessage ? "message_id" : "business_id";
        return handle.createQuery("SELECT id, fingerprint, " + scope + ", " + id + " FROM message" + " WHERE " + scope
                        + " = ? AND " + id + " = ?")
                .bind(0, key.scope())
                .bind(1, key.id())
                .map((row, context) -> new Original<>(
                                row.getLong(1), new Ack(row.getLong(1)), Fingerprint.of(row.getBytes(2)))
                        .recordedAs(IdempotencyKey.of(key.namespace(), row.getString(3), row.getString(4))))
                .findOne();
    }

    private Ack insertMessage(Handle handle, String text) {
        return handle.createUpdate(
                        "INSERT INTO message (sender, message_id, system, business_id, body, fingerprint) VALUES (?, ?, ?, ?, ?, ?)")
                .bind(0, sender)
                .bind(1, messageId)
                .bind(2, businessId.map(id -> businessSystem))
                .bind(3, businessId)
                .bind(4, text)
                .bind(5, Fingerprint.sha256(text).toBytes())
                .executeAndReturnGeneratedKeys("id")
                .map((row, context) -> new Ack(row.getLong(1)))
                .one();
    }

    private void createTable() {
        jdbi.useHandle(handle -> handle.execute("""
                CREATE TABLE message (
                    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    sender      VARCHAR(191) NOT NULL,
                    message_id  VARCHAR(255) NOT NULL,
                    system      VARCHAR(191),
                    business_id VARCHAR(255),
                    fingerprint VARBINARY(64) NOT NULL,
                    body        VARCHAR NOT NULL,
                    UNIQUE (sender, message_id),
                    UNIQUE (system, business_id)
                )"""));
    }

    @Test
    void firstScreen_answersTheSameToResendAndBusinessRetry() {
        createTable();

        JdbcStores.yourTable(
                jdbi,
                this::findOriginal,
                YourTableOptions.defaults()
                        .uniqueKey("message", "sender", "message_id")
                        .uniqueKey("message", "system", "business_id"));

        assertThat(firstScreen()).isEqualTo(new Ack(1));
        assertThat(firstScreen()).isEqualTo(new Ack(1));
        messageId = "m2";
        assertThat(firstScreen()).isEqualTo(new Ack(1));
    }

    /** Somebody who takes payments, once for each token that is larger than those before. */
    private static final class Provider {
        private final Map<Request, String> receipts = new HashMap<>();

        boolean knows(Request payment) {
            return receipts.containsKey(payment);
        }

        String receipt(Request payment) {
            return receipts.getOrDefault(payment, "none");
        }

        String pay(Request payment, long token) {
            assertThat(token).isPositive();
            receipts.put(payment, "receipt " + (receipts.size() + 1));
            return receipt(payment);
        }
    }

    @Test
    void others_answerTheSameToo() {
        createTable();
        Request request = Request.of(IdempotencyKey.of("im", sender, "x1"));
        Request payment = Request.of(IdempotencyKey.of("payment", sender, "p1"));
        Provider provider = new Provider();
        JdbcStore<Ack> store = JdbcStores.yourTable(jdbi, this::findOriginal);
        Idempotency<Handle, Ack> sends = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();

        for (int i = 0; i < 2; i++) {
            RecordStore<String> records = JdbcStores.transactional(jdbi, Codec.utf8());
            Outcome<String> stored = Idempotency.with(records)
                    .build()
                    .execute(
                            request,
                            handle -> "row " + insertMessage(handle, body).row());
            assertThat(stored.response()).isEqualTo("row 1");

            IdempotencyStore<Lease, String> leases = JdbcStores.leased(jdbi, Codec.utf8());
            Outcome<String> paid = Idempotency.with(leases).build().execute(payment, lease -> {
                if (lease.takenOver() && provider.knows(payment)) {
                    return provider.receipt(payment); // an earlier holder has paid, and died before it could say so
                }
                lease.effectStarts();
                return provider.pay(payment, lease.token());
            });
            assertThat(paid.response()).isEqualTo("receipt 1");
        }

        messageId = "x2";
        businessId = Optional.empty();
        Request other = Request.of(IdempotencyKey.of("im", sender, messageId));
        assertThat(joinedAndRemembered(sends, store, other)).isInstanceOf(Outcome.Executed.class);
        assertThat(sends.execute(other, handle -> insertMessage(handle, message)))
                .isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    void batch_answersRepeatsInside() {
        jdbi.useHandle(handle -> handle.execute("CREATE TABLE parcel (id VARCHAR(255) PRIMARY KEY)"));
        Idempotency<Handle, String> polled =
                Idempotency.with(JdbcStores.transactional(jdbi, Codec.utf8())).build();
        List<Request> requests = Stream.of("p1", "p2", "p1")
                .map(id -> Request.of(IdempotencyKey.of("parcel", sender, id)))
                .toList();

        List<Outcome<String>> outcomes = polled.executeAll(requests, (handle, fresh) -> {
            Map<Request, String> answers = new HashMap<>();
            for (Request request : fresh) {
                handle.execute(
                        "INSERT INTO parcel (id) VALUES (?)",
                        request.keys().get(0).id());
                answers.put(request, "on its way");
            }
            return answers;
        });

        assertThat(outcomes)
                .allSatisfy(outcome -> assertThat(outcome.response()).isEqualTo("on its way"));
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Replayed.class);
    }

    private Outcome<Ack> joinedAndRemembered(Idempotency<Handle, Ack> sends, JdbcStore<Ack> store, Request request) {
        Outcome<Ack> joined = jdbi.inTransaction(handle ->
                sends.using(store.joining(handle)).execute(request, inside -> insertMessage(inside, message)));
        sends.remember(request, joined);
        return joined;
    }

    /** The store that docs/add-a-store.md makes of a backend. */
    static IdempotencyStore<Lease, String> leased(LeaseBackend backend) {
        IdempotencyStore<Lease, String> store = new LeasedStore<>(backend, Codec.utf8(), LeaseOptions.defaults());
        return store;
    }

    private Ack firstScreen() {
        JdbcStore<Ack> store = JdbcStores.yourTable(jdbi, this::findOriginal); // the unique key is on your own table

        Idempotency<Handle, Ack> sends = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();

        Outcome<Ack> outcome = sends.execute(
                Request.of(IdempotencyKey.of("im", sender, messageId)) // the messaging system's name for it
                        .andIfPresent(businessId.map(id -> IdempotencyKey.of("notice", businessSystem, id))) // its own
                        .fingerprint(Fingerprint.sha256(body)),
                handle -> insertMessage(handle, message)); // commits at most once

        Ack ack = outcome.response(); // first time or replayed: the same
        return ack;
    }
}
