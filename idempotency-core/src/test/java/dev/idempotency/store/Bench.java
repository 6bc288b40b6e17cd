package dev.idempotency.store;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.store.LeaseBackend.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Records in memory, a clock that is turned by hand, a leased store over them, and what it has published. */
final class Bench {

    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration RETENTION = Duration.ofHours(24);
    static final Duration TICK = Duration.ofNanos(1);

    final FakeTime time = new FakeTime();
    final CaffeineLeases leases;
    final List<Published> published = new ArrayList<>();
    final Publication<String> publication = this::publish;

    Bench() {
        this(Long.MAX_VALUE);
    }

    Bench(long maximumEntries) {
        leases = new CaffeineLeases(maximumEntries, time::now);
    }

    LeasedStore<String> store() {
        return store(LeaseOptions.defaults());
    }

    LeasedStore<String> store(LeaseOptions options) {
        return store(leases, options);
    }

    LeasedStore<String> store(LeaseBackend backend, LeaseOptions options) {
        return new LeasedStore<>(backend, Codec.utf8(), options, time);
    }

    /** Answers a request by an action that returns a text. */
    Outcome<String> answer(Request request, String response) {
        return store().execute(request, lease -> response, publication);
    }

    /** A claim by somebody else than any store. */
    Holder holder(Request request) {
        UUID owner = UUID.randomUUID();
        Claim claim = leases.claim(request, owner, LEASE, RETENTION);
        if (claim instanceof Claim.Granted granted) {
            return new Holder(leases, request, owner, granted);
        }
        throw new AssertionError("not granted but " + claim);
    }

    static IdempotencyKey key(String id) {
        return IdempotencyKey.of("im", "ana", id);
    }

    static Request request(String... ids) {
        Request request = Request.of(key(ids[0]));
        for (int i = 1; i < ids.length; i++) {
            request = request.and(key(ids[i]));
        }
        return request;
    }

    private void publish(
            Collection<IdempotencyKey> names, Original<? extends String> original, @Nullable Duration remaining) {
        published.add(new Published(List.copyOf(names), original, remaining));
    }

    record Published(
            List<IdempotencyKey> names,
            Original<? extends String> original,
            @Nullable Duration remaining) {}

    /** Who has been granted a lease, at the level of the primitives. */
    record Holder(LeaseBackend backend, Request request, UUID owner, Claim.Granted granted) {

        boolean complete(String response) {
            return backend.complete(request, owner, granted.token(), Payload.encode(Codec.utf8(), response), RETENTION);
        }

        boolean release() {
            return backend.release(request, owner, granted.token());
        }

        boolean extend(Duration by) {
            return backend.extend(request, owner, granted.token(), by);
        }
    }
}
