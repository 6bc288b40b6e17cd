package dev.idempotency.window;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A part of a {@link CompactWindow} with a lock of its own: a {@link Log} of entries and an {@link Index} of where each key's
 * is.
 *
 * <p>Time passes for a shard when it is called, and now and then when one of the others is: some calls also {@link #sweep}
 * the next of them, so that a shard that nobody asks gives its memory back too.
 */
final class Shard {

    /** One call in so many sweeps another shard. */
    private static final int CALLS_PER_SWEEP = 8;

    private final ReentrantLock lock = new ReentrantLock();
    private final Shard[] all;
    private final int position;
    private final Limits limits;
    private final Entries entries;
    private Log log;
    private Index index;
    private long evictedBefore;
    private int calls;

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

    @Nullable
    Value get(Name name, long now) {
        int turn;
        Value found = null;
        lock.lock();
        try {
            turn = ++calls;
            int location = index.find(hash(name), name);
            if (location != Log.NOWHERE) {
                found = log.read(location, now);
            }
        } finally {
            lock.unlock();
        }
        help(turn, now);
        return found;
    }

    void put(Name name, Value value, long deadline, long now) {
        int turn;
        lock.lock();
        try {
            turn = ++calls;
            expire(now);
            int begun = log.begun();
            int former = index.put(hash(name), name, log.append(name, value, deadline, now));
            if (former != Log.NOWHERE) {
                log.release(former);
            }
            while (log.live() > limits.entries || (log.bytes() + index.bytes() > limits.bytes && !log.isEmpty())) {
                log.dropOldest();
            }
            if (log.begun() != begun) {
                index.sweep();
            }
        } finally {
            lock.unlock();
        }
        help(turn, now);
    }

    void remove(Name name) {
        lock.lock();
        try {
            int location = index.remove(hash(name), name);
            if (location != Log.NOWHERE) {
                log.release(location);
            }
        } finally {
            lock.unlock();
        }
    }

    void clear() {
        lock.lock();
        try {
            reset();
        } finally {
            lock.unlock();
        }
    }

    /** Drops what is over, and gives room in the index back, unless somebody is at work here. */
    void sweep(long now) {
        if (lock.tryLock()) {
            try {
                expire(now);
                if (index.slots() > 4 * log.live()) {
                    index.sweep();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Adds this shard's counts to those of others. */
    Counts plus(Counts others, long now) {
        lock.lock();
        try {
            expire(now);
            return new Counts(
                    others.live + log.live(),
                    others.evictions + evictedBefore + log.evictions(),
                    others.bytes + log.bytes() + index.bytes());
        } finally {
            lock.unlock();
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
        if (turn % CALLS_PER_SWEEP == 0) {
            all[(position + turn / CALLS_PER_SWEEP) & (all.length - 1)].sweep(now);
        }
    }

    /** The half of the hash that did not choose the shard; 0 is kept for empty slots. */
    private static int hash(Name name) {
        int hash = (int) name.hash;
        return hash == 0 ? 1 : hash;
    }
}
