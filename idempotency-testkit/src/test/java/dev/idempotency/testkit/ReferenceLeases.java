package dev.idempotency.testkit;

import dev.idempotency.Action;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Refused;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.store.Judgement;
import dev.idempotency.store.Lease;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An honest store with leases, in memory and under one lock. Some steps can be overridden, to be done wrong. */
class ReferenceLeases implements IdempotencyStore<Lease, @Nullable String> {

    static final Duration LEASE = Duration.ofMinutes(1);
    static final Duration RETENTION = Duration.ofHours(1);

    private final Map<IdempotencyKey, Held> records = new HashMap<>();
    private long tokens;
    private long now;

    /** A record, and the lease of the one who makes it. */
    final class Held implements Lease {

        final long token;
        final boolean takenOver;
        boolean started;
        long leaseEnds = now + LEASE.toNanos();
        long recordEnds = now + RETENTION.toNanos();
        Original<@Nullable String> original;
        boolean done;

        Held(long token, boolean takenOver, Request request) {
            this.token = token;
            this.takenOver = takenOver;
            this.original = new Original<>(new Object(), "in progress", request.fingerprint());
        }

        boolean isPresent() {
            return done ? recordEnds - now > 0 : leaseEnds - now > 0;
        }

        @Override
        public long token() {
            return token;
        }

        @Override
        public boolean takenOver() {
            return takenOver;
        }

        @Override
        public Duration remaining() {
            synchronized (ReferenceLeases.this) {
                return owns(this) ? Duration.ofNanos(Math.max(0, leaseEnds - now)) : Duration.ZERO;
            }
        }

        @Override
        public void extend(Duration by) {
            synchronized (ReferenceLeases.this) {
                checkOwner(this);
                leaseEnds = Math.max(leaseEnds, now + by.toNanos());
            }
        }

        @Override
        public void effectStarts() {
            synchronized (ReferenceLeases.this) {
                checkOwner(this);
                started = true;
            }
        }
    }

    @Override
    public Duration retention() {
        return RETENTION;
    }

    synchronized void advance(Duration by) {
        now += by.toNanos();
    }

    synchronized void lapse(IdempotencyKey key) {
        Held held = records.get(key);
        if (held != null) {
            held.leaseEnds = now;
        }
    }

    @Override
    public <X extends Exception> Outcome<@Nullable String> execute(
            Request request,
            Action<? super Lease, ? extends @Nullable String, X> action,
            Publication<? super @Nullable String> publication)
            throws X {
        Held mine;
        synchronized (this) {
            Map<IdempotencyKey, Held> found = find(request);
            if (!found.isEmpty()) {
                return answer(request, found, publication);
            }
            boolean lapsed = request.keys().stream().anyMatch(key -> records.containsKey(key) && !isDone(key));
            mine = new Held(nextToken(), tellsTakeover() && lapsed, request);
            put(request, mine);
        }
        String response;
        try {
            response = action.run(mine);
        } catch (Throwable failure) {
            release(request, mine);
            throw failure;
        }
        synchronized (this) {
            checkOwner(mine);
            mine.original = new Original<>(mine.original.identity(), response, request.fingerprint());
            mine.done = true;
            put(request, mine);
        }
        publication.committed(request.keys(), mine.original, RETENTION);
        return new Executed<>(response);
    }

    private Outcome<@Nullable String> answer(
            Request request, Map<IdempotencyKey, Held> found, Publication<? super @Nullable String> publication) {
        Map<IdempotencyKey, Original<@Nullable String>> originals = new LinkedHashMap<>();
        found.forEach((key, held) -> originals.put(key, held.original));
        Refused<@Nullable String> refusal = refusal(request, originals, found);
        if (refusal != null) {
            return refusal;
        }
        for (Map.Entry<IdempotencyKey, Held> entry : found.entrySet()) {
            if (!entry.getValue().done) {
                return new InProgress<>(entry.getKey(), Duration.ofMillis(1));
            }
        }
        Held held = found.values().iterator().next();
        put(request, held);
        publication.committed(request.keys(), held.original, Duration.ofNanos(held.recordEnds - now));
        return Judgement.answer(request, originals);
    }

    private Map<IdempotencyKey, Held> find(Request request) {
        Map<IdempotencyKey, Held> found = new LinkedHashMap<>();
        for (IdempotencyKey key : request.keys()) {
            Held held = records.get(key);
            if (held != null && held.isPresent()) {
                found.put(key, held);
            }
        }
        return found;
    }

    private boolean isDone(IdempotencyKey key) {
        Held held = records.get(key);
        return held != null && held.done;
    }

    private void put(Request request, Held held) {
        List<IdempotencyKey> keys = request.keys();
        keys.forEach(key -> records.put(key, held));
    }

    // The steps that can be done wrong.

    long nextToken() {
        return ++tokens;
    }

    boolean tellsTakeover() {
        return true;
    }

    boolean owns(Held held) {
        return records.containsValue(held);
    }

    void checkOwner(Held held) {
        if (!owns(held)) {
            throw new LeaseLostException("somebody else has taken over", null);
        }
    }

    boolean keepsAfter(Held held) {
        return held.started;
    }

    void release(Request request, Held held) {
        synchronized (this) {
            if (!keepsAfter(held)) {
                giveBack(held);
            }
        }
    }

    void giveBack(Held held) {
        if (held.takenOver) {
            held.leaseEnds = now;
        } else {
            remove(held);
        }
    }

    void remove(Held held) {
        records.values().removeIf(other -> other == held);
    }

    void removeAll(Request request) {
        request.keys().forEach(records::remove);
    }

    @Nullable
    Refused<@Nullable String> refusal(
            Request request,
            Map<IdempotencyKey, Original<@Nullable String>> originals,
            Map<IdempotencyKey, Held> found) {
        return Judgement.refusal(request, originals);
    }
}
