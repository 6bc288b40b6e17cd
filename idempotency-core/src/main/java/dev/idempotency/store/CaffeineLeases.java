package dev.idempotency.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records in a Caffeine cache: an entry for each name, and one immutable value under all names of a record.
 *
 * <p>The cache drops an entry when its record's retention is over, and for no other reason. One lock makes each primitive
 * atomic over several names; inside it there are only a few steps in memory.
 */
final class CaffeineLeases implements LeaseBackend {

    private final ReentrantLock lock = new ReentrantLock();
    private final Cache<IdempotencyKey, Kept> records;
    private final long maximumEntries;
    private final Ticker ticker;
    private final long startTick;
    private final long startMicros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());

    /** One for all keys, so that it grows for each of them whatever was released or has expired. */
    private long lastToken;

    CaffeineLeases(long maximumEntries, Ticker ticker) {
        if (maximumEntries < 1) {
            throw new IllegalArgumentException("a store holds at least 1 key, not " + maximumEntries);
        }
        this.maximumEntries = maximumEntries;
        this.ticker = ticker;
        this.startTick = ticker.read();
        this.records = Caffeine.newBuilder()
                .ticker(ticker)
                .expireAfter(new UntilRetentionEnds())
                // On the calling thread, so that what has expired is gone when entries are counted.
                .executor(Runnable::run)
                .build();
    }

    @Override
    public Claim claim(Request request, UUID owner, Duration lease, Duration retention) {
        return locked(() -> {
            // Before the look: what is found has time left.
            long now = ticker.read();
            Map<IdempotencyKey, Kept> found = records.getAllPresent(request.keys());
            List<IdempotencyKey> known =
                    request.keys().stream().filter(found::containsKey).toList();
            Kept record = known.isEmpty() ? null : found.get(known.get(0));
            if (record != null && record.isHeldBy(owner)) {
                return record.granted();
            }
            Outcome.Refused<Object> refusal = Judgement.refusal(request, originals(found));
            if (refusal != null) {
                return new Claim.Refused(refusal);
            }
            if (record != null && record.payload == null && record.leaseEnds - now > 0) {
                return new Claim.Refused(new InProgress<>(known.get(0), Duration.ofNanos(record.leaseEnds - now)));
            }
            makeRoom(request.keys().stream()
                    .filter(key -> !found.containsKey(key))
                    .toList());
            if (record != null && record.payload != null) {
                request.keys().forEach(key -> records.asMap().putIfAbsent(key, record));
                return new Claim.Done(
                        known.get(0), record.original(), request.keys(), Duration.ofNanos(record.retentionEnds - now));
            }
            Kept taken = taken(request, owner, record, now + lease.toNanos(), now + retention.toNanos());
            put(taken);
            return taken.granted();
        });
    }

    @Override
    public boolean complete(Request request, UUID owner, long token, byte[] payload, Duration retention) {
        return locked(() -> {
            Kept record = find(request);
            if (record == null || !record.isOf(owner, token)) {
                return false;
            }
            if (record.payload == null) {
                put(record.completed(payload, ticker.read() + retention.toNanos()));
            }
            return true;
        });
    }

    @Override
    public boolean release(Request request, UUID owner, long token) {
        return locked(() -> {
            Kept record = find(request);
            if (record == null) {
                return true;
            }
            if (!record.isOf(owner, token) || record.payload != null) {
                return false;
            }
            if (record.isTakenOver()) {
                put(record.ended(ticker.read()));
            } else {
                records.invalidateAll(record.names);
            }
            return true;
        });
    }

    @Override
    public boolean extend(Request request, UUID owner, long token, Duration by) {
        return locked(() -> {
            Kept record = find(request);
            if (record == null || !record.isOf(owner, token) || record.payload != null) {
                return false;
            }
            put(record.extended(ticker.read() + by.toNanos()));
            return true;
        });
    }

    /** Drops what has expired, as it does by itself from time to time. */
    void purge() {
        locked(() -> {
            records.cleanUp();
            return true;
        });
    }

    private @Nullable Kept find(Request request) {
        return records.getIfPresent(request.keys().get(0));
    }

    private void put(Kept record) {
        record.names.forEach(name -> records.put(name, record));
    }

    private Kept taken(Request request, UUID owner, @Nullable Kept lapsed, long leaseEnds, long retentionEnds) {
        long micros = startMicros + (ticker.read() - startTick) / 1000;
        lastToken = Math.max(lastToken + 1, micros);
        if (lapsed == null) {
            return new Kept(
                    owner, request.keys(), request.fingerprint(), owner, lastToken, leaseEnds, retentionEnds, null);
        }
        Set<IdempotencyKey> names = new LinkedHashSet<>(lapsed.names);
        names.addAll(request.keys());
        UUID identity = lapsed.identity.equals(owner) ? lapsed.owner : lapsed.identity;
        return new Kept(identity, names, request.fingerprint(), owner, lastToken, leaseEnds, retentionEnds, null);
    }

    private void makeRoom(Collection<IdempotencyKey> fresh) {
        if (fresh.isEmpty() || maximumEntries - records.estimatedSize() >= fresh.size()) {
            return;
        }
        // Expired entries of these very keys first: the cache itself drops what has expired only every second or so.
        records.invalidateAll(fresh);
        records.cleanUp();
        if (maximumEntries - records.estimatedSize() < fresh.size()) {
            throw new RetryableException(
                    "the store is full: it holds its maximum of " + maximumEntries
                            + " keys, and none of them may be forgotten yet; nothing was run",
                    null);
        }
    }

    private <T> T locked(Supplier<T> steps) {
        lock.lock();
        try {
            return steps.get();
        } finally {
            lock.unlock();
        }
    }

    private static Map<IdempotencyKey, Original<?>> originals(Map<IdempotencyKey, Kept> found) {
        Map<IdempotencyKey, Original<?>> originals = new HashMap<>();
        found.forEach((key, record) -> originals.put(key, record.original()));
        return originals;
    }

    /** A record; the names are those of its time in progress, and not read once it is complete. */
    @SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
    private record Kept(
            UUID identity,
            Collection<IdempotencyKey> names,
            @Nullable Fingerprint fingerprint,
            UUID owner,
            long token,
            long leaseEnds,
            long retentionEnds,
            byte @Nullable [] payload) {

        private static final byte[] NONE = {};

        boolean isOf(UUID someone, long withToken) {
            return owner.equals(someone) && token == withToken;
        }

        boolean isHeldBy(UUID someone) {
            return payload == null && owner.equals(someone);
        }

        boolean isTakenOver() {
            return !identity.equals(owner);
        }

        Claim.Granted granted() {
            return new Claim.Granted(identity, token, isTakenOver());
        }

        Original<byte[]> original() {
            return new Original<>(identity, payload == null ? NONE : payload, fingerprint);
        }

        Kept completed(byte[] with, long until) {
            return new Kept(identity, names, fingerprint, owner, token, leaseEnds, until, with);
        }

        Kept ended(long now) {
            return new Kept(identity, names, fingerprint, owner, token, now, retentionEnds, null);
        }

        Kept extended(long until) {
            long lease = until - leaseEnds > 0 ? until : leaseEnds;
            long retention = lease - retentionEnds > 0 ? lease : retentionEnds;
            return new Kept(identity, names, fingerprint, owner, token, lease, retention, null);
        }
    }

    /** To the nanosecond: Caffeine's own adapters read the clock once more. */
    private static final class UntilRetentionEnds implements Expiry<IdempotencyKey, Kept> {

        @Override
        public long expireAfterCreate(IdempotencyKey key, Kept record, long now) {
            return Math.max(0, record.retentionEnds - now);
        }

        @Override
        public long expireAfterUpdate(IdempotencyKey key, Kept record, long now, long current) {
            return expireAfterCreate(key, record, now);
        }

        @Override
        public long expireAfterRead(IdempotencyKey key, Kept record, long now, long current) {
            return current;
        }
    }
}
