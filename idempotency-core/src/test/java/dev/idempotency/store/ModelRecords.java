package dev.idempotency.store;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Refused;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The four primitives as the rules have them, over a plain list, for comparison. */
final class ModelRecords {

    static final class Kept {
        UUID identity;
        boolean takenOver;
        final Set<IdempotencyKey> names = new HashSet<>();

        @Nullable
        Fingerprint fingerprint;

        UUID owner;
        long token;
        long leaseEnds;
        long retentionEnds;
        byte @Nullable [] payload;

        Kept(UUID identity) {
            this.identity = identity;
            this.owner = identity;
        }
    }

    private final List<Kept> records = new ArrayList<>();
    private long token;
    long now;

    /** What is expected: a refusal, or the record that is granted or complete. */
    record Verdict(
            @Nullable Refused<?> refusal,
            @Nullable Kept kept,
            @Nullable IdempotencyKey matched) {}

    Verdict claim(Request request, UUID owner, Duration lease, Duration retention) {
        expire();
        List<IdempotencyKey> known = new ArrayList<>();
        Set<Kept> found = new HashSet<>();
        for (IdempotencyKey key : request.keys()) {
            Kept kept = find(key);
            if (kept != null) {
                known.add(key);
                found.add(kept);
            }
        }
        Kept kept = found.isEmpty() ? null : found.iterator().next();
        if (kept != null && kept.payload == null && kept.owner.equals(owner)) {
            return new Verdict(null, kept, known.get(0));
        }
        if (found.size() > 1) {
            return new Verdict(new Conflict<>(known), null, null);
        }
        if (kept != null && Fingerprint.differ(kept.fingerprint, request.fingerprint())) {
            return new Verdict(new Mismatch<>(known.get(0)), null, null);
        }
        if (kept != null && kept.payload == null && now < kept.leaseEnds) {
            return new Verdict(new InProgress<>(known.get(0), Duration.ofNanos(kept.leaseEnds - now)), null, null);
        }
        if (kept == null) {
            kept = new Kept(owner);
            records.add(kept);
        } else if (kept.payload == null) {
            kept.takenOver = true;
            kept.identity = kept.identity.equals(owner) ? kept.owner : kept.identity;
        }
        kept.names.addAll(request.keys());
        if (kept.payload == null) {
            kept.owner = owner;
            kept.token = ++token;
            kept.fingerprint = request.fingerprint();
            kept.leaseEnds = now + lease.toNanos();
            kept.retentionEnds = now + retention.toNanos();
        }
        return new Verdict(null, kept, known.isEmpty() ? null : known.get(0));
    }

    boolean complete(Request request, UUID owner, long withToken, byte[] payload, Duration retention) {
        Kept kept = owned(request, owner, withToken);
        if (kept != null && kept.payload == null) {
            kept.payload = payload;
            kept.retentionEnds = now + retention.toNanos();
        }
        return kept != null;
    }

    boolean release(Request request, UUID owner, long withToken) {
        Kept kept = owned(request, owner, withToken);
        if (kept != null && kept.payload == null) {
            if (kept.takenOver) {
                kept.leaseEnds = now;
            } else {
                records.remove(kept);
            }
            return true;
        }
        return find(request.keys().get(0)) == null;
    }

    boolean extend(Request request, UUID owner, long withToken, Duration by) {
        Kept kept = owned(request, owner, withToken);
        if (kept == null || kept.payload != null) {
            return false;
        }
        kept.leaseEnds = Math.max(kept.leaseEnds, now + by.toNanos());
        kept.retentionEnds = Math.max(kept.retentionEnds, kept.leaseEnds);
        return true;
    }

    private @Nullable Kept owned(Request request, UUID owner, long withToken) {
        expire();
        Kept kept = find(request.keys().get(0));
        return kept != null && kept.owner.equals(owner) && kept.token == withToken ? kept : null;
    }

    private @Nullable Kept find(IdempotencyKey key) {
        for (Kept kept : records) {
            if (kept.names.contains(key)) {
                return kept;
            }
        }
        return null;
    }

    private void expire() {
        records.removeIf(kept -> now >= kept.retentionEnds);
    }
}
