package dev.idempotency.window;

import dev.idempotency.Codec;
import dev.idempotency.Original;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * A part of a {@link CompactWindow} with a lock of its own: a {@link Log} of entries and an {@link Index} of where each key's
 * is.
 *
 * <p>Time passes for a shard when something is put into it, and now and then when into one of the others: some puts also
 * {@link #sweep} the next of them, so that a shard that has gone quiet gives its memory back too.
 */
final class Shard {

    /** One put in so many sweeps another shard. */
    private static final int PUTS_PER_SWEEP = 8;

    /** One chunk in so many sweeps the index: all of it, long before the log's numbers come round again. */
    private static final int CHUNKS_PER_SWEEP = 16;

    private final StampedLock lock = new StampedLock();
    private final Shard[] all;
    private final int position;
    private final Limits limits;
    private final Entries entries;
    private Log log;
    private Index index;
    private long evictedBefore;
    private int puts;

    /**
     * What a shard may hold at the most.
     *
     * @param lasting nanoseconds that an entry lasts
     * @param entries how many entries
     * @param bytes how many bytes
     */
    record Limits(long lasting, long entries, long bytes) {}

    /** A shard at its position among all, which need not be there yet. */
    Shard(Shard[] all, int position, Limits limits, Entries entries) {
        this.all = all;
        this.position = position;
        this.limits = limits;
        this.entries = entries;
        this.log = new Log(entries, limits.lasting, limits.entries);
        this.index = new Index(log);
    }

    /**
     * Reads without the lock if nobody writes meanwhile. What is looked up then may be half changed, so anything may be found
     * or thrown, and counts only if the stamp is still valid; the bytes of an entry that was found are never changed.
     *
     * @throws RuntimeException what the codec throws
     */
    <R extends @Nullable Object> @Nullable Original<R> get(Name name, long now, Codec<R> codec) {
        long stamp = lock.tryOptimisticRead();
        if (stamp != 0) {
            Log seen = log;
            Chunk chunk = null;
            byte[] bytes = null;
            int location;
            boolean undisturbed;
            try {
                location = index.find(hash(name), name);
                if (location != Log.NOWHERE) {
                    chunk = seen.chunk(location);
                    bytes = seen.bytes(location);
                }
                undisturbed = lock.validate(stamp);
            } catch (RuntimeException halfChanged) {
                location = Log.NOWHERE;
                undisturbed = false;
            }
            if (undisturbed) {
                return chunk == null || bytes == null ? null : seen.read(chunk, bytes, location, now, codec);
            }
        }
        return getLocked(name, now, codec);
    }

    private <R extends @Nullable Object> @Nullable Original<R> getLocked(Name name, long now, Codec<R> codec) {
        Log seen;
        Chunk chunk;
        byte[] bytes;
        int location;
        long stamp = lock.readLock();
        try {
            location = index.find(hash(name), name);
            if (location == Log.NOWHERE) {
                return null;
            }
            seen = log;
            chunk = seen.chunk(location);
            bytes = seen.bytes(location);
        } finally {
            lock.unlockRead(stamp);
        }
        return seen.read(chunk, bytes, location, now, codec);
    }

    void put(Name name, Value value, long deadline, long now) {
        int turn;
        long stamp = lock.writeLock();
        try {
            turn = ++puts;
            expire(now);
            int begun = log.begun();
            int former = index.put(hash(name), name, log.append(name, value, deadline, now));
            if (former != Log.NOWHERE) {
                log.release(former);
            }
            while (log.live() > limits.entries || (log.bytes() + index.bytes() > limits.bytes && !log.isEmpty())) {
                log.dropOldest();
            }
            if (log.begun() != begun && log.begun() % CHUNKS_PER_SWEEP == 0) {
                index.sweep();
            }
        } finally {
            lock.unlockWrite(stamp);
        }
        help(turn, now);
    }

    void remove(Name name) {
        long stamp = lock.writeLock();
        try {
            int location = index.remove(hash(name), name);
            if (location != Log.NOWHERE) {
                log.release(location);
            }
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    void clear() {
        long stamp = lock.writeLock();
        try {
            reset();
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Drops what is over, and gives room in the index back, unless somebody is at work here. */
    void sweep(long now) {
        long stamp = lock.tryWriteLock();
        if (stamp != 0) {
            try {
                expire(now);
                if (index.slots() > 4 * log.live()) {
                    index.sweep();
                }
            } finally {
                lock.unlockWrite(stamp);
            }
        }
    }

    /** Adds this shard's counts to those of others. */
    Counts plus(Counts others, long now) {
        long stamp = lock.writeLock();
        try {
            expire(now);
            return new Counts(
                    others.live + log.live(),
                    others.evictions + evictedBefore + log.evictions(),
                    others.bytes + log.bytes() + index.bytes());
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /**
     * Counts over shards.
     *
     * @param live entries
     * @param evictions entries that were dropped
     * @param bytes about what is taken on the heap
     */
    record Counts(long live, long evictions, long bytes) {}

    private void expire(long now) {
        log.expire(now);
        if (log.isEmpty() && index.slots() > Table.FEWEST_SLOTS) {
            reset();
        }
    }

    private void reset() {
        evictedBefore += log.evictions();
        log = new Log(entries, limits.lasting, limits.entries);
        index = new Index(log);
    }

    private void help(int turn, long now) {
        if (turn % PUTS_PER_SWEEP == 0) {
            all[(position + turn / PUTS_PER_SWEEP) & (all.length - 1)].sweep(now);
        }
    }

    /** The half of the hash that did not choose the shard; 0 is kept for empty slots. */
    private static int hash(Name name) {
        int hash = (int) name.hash;
        return hash == 0 ? 1 : hash;
    }
}
