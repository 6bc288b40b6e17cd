package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.ChildJvm;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.TimeZone;
import org.jdbi.v3.core.Jdbi;

/** A server in a time zone of its own: writes a complete record and a held one, or tells what it sees of them. */
final class ZonedServer {

    static final Duration LEASE = Duration.ofMinutes(20);
    static final Duration RETENTION = Duration.ofHours(24);

    private ZonedServer() {}

    public static void main(String[] args) {
        TimeZone.setDefault(TimeZone.getTimeZone(args[0]));
        Jdbi jdbi = Jdbi.create(args[1]);
        IdempotencyStore<Lease, String> store = JdbcStores.leased(
                jdbi, Codec.utf8(), LeaseOptions.defaults().lease(LEASE).retention(RETENTION));
        ChildJvm.awaitGo();
        if (args[2].equals("write")) {
            send(store, "complete");
            try {
                store.execute(
                        request("held"),
                        lease -> {
                            lease.effectStarts();
                            throw new IllegalStateException("died");
                        },
                        (n, o, r) -> {});
            } catch (IllegalStateException e) {
                // The lease stays.
            }
        }
        RecordAdmin admin = JdbcStores.admin(jdbi);
        for (IdempotencyKey key : new IdempotencyKey[] {messageKey("complete"), messageKey("held")}) {
            RecordInfo info = admin.find(key).get(0);
            System.out.println("times " + micros(info.createdAt()) + " " + micros(info.expiresAt()) + " "
                    + (info.leaseUntil() == null ? 0 : micros(info.leaseUntil())));
            System.out.println("state " + info.state());
        }
        if (!args[2].equals("write")) {
            System.out.println("answer " + kind(send(store, "complete")));
            Outcome<String> held = send(store, "held");
            System.out.println("answer " + kind(held));
            System.out.println("minutes "
                    + (held instanceof InProgress<String> refused
                            ? refused.retryAfter().toMinutes()
                            : 0));
        }
    }

    private static Outcome<String> send(IdempotencyStore<Lease, String> store, String id) {
        return store.execute(request(id), lease -> "taken over " + lease.takenOver(), (n, o, r) -> {});
    }

    private static String kind(Outcome<String> outcome) {
        return outcome.getClass().getSimpleName();
    }

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }
}
