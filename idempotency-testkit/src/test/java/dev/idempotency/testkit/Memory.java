package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A database of the smallest kind: rows by key, effects, transactions that lock keys, and a clock of its own. */
final class Memory {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition unlocked = lock.newCondition();
    private final Map<IdempotencyKey, Row> rows = new HashMap<>();
    private final Map<IdempotencyKey, Integer> effects = new HashMap<>();
    private final Map<IdempotencyKey, Transaction> locked = new HashMap<>();
    private long now;

    /** A row, of which each of its keys has a copy. */
    record Row(Original<@Nullable String> original, long expires) {}

    Transaction begin() {
        return new Transaction(this, Thread.currentThread());
    }

    int effects(IdempotencyKey key) {
        return under(() -> effects.getOrDefault(key, 0));
    }

    long now() {
        return under(() -> now);
    }

    void advance(Duration by) {
        under(() -> now += by.toNanos());
    }

    /** What is committed under some keys, expired or not. */
    Map<IdempotencyKey, Row> read(Collection<IdempotencyKey> keys) {
        return under(() -> {
            Map<IdempotencyKey, Row> found = new LinkedHashMap<>();
            for (IdempotencyKey key : keys) {
                Row row = rows.get(key);
                if (row != null) {
                    found.put(key, row);
                }
            }
            return found;
        });
    }

    private <T> T under(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** What is written becomes visible with the commit; locks are kept until the end. */
    static final class Transaction {

        private final Memory memory;
        private final Thread thread;
        private final Map<IdempotencyKey, Row> written = new HashMap<>();
        private final Set<IdempotencyKey> effects = new HashSet<>();

        private Transaction(Memory memory, Thread thread) {
            this.memory = memory;
            this.thread = thread;
        }

        /** Locks all keys or none. Returns the key that another transaction did not give back in time, or null. */
        @Nullable
        IdempotencyKey lock(Collection<IdempotencyKey> keys, Duration atMost) throws InterruptedException {
            long left = atMost.toNanos();
            memory.lock.lockInterruptibly();
            try {
                while (true) {
                    IdempotencyKey taken = firstTaken(keys);
                    if (taken == null) {
                        keys.forEach(key -> memory.locked.put(key, this));
                        return null;
                    }
                    if (left <= 0 || ownerOf(taken).thread == thread) {
                        return taken;
                    }
                    left = memory.unlocked.awaitNanos(left);
                }
            } finally {
                memory.lock.unlock();
            }
        }

        private Transaction ownerOf(IdempotencyKey taken) {
            return Objects.requireNonNull(memory.locked.get(taken));
        }

        private @Nullable IdempotencyKey firstTaken(Collection<IdempotencyKey> keys) {
            for (IdempotencyKey key : keys) {
                Transaction owner = memory.locked.get(key);
                if (owner != null && owner != this) {
                    return key;
                }
            }
            return null;
        }

        void write(Collection<IdempotencyKey> keys, Row row) {
            keys.forEach(key -> written.put(key, row));
        }

        void effect(Collection<IdempotencyKey> keys) {
            effects.addAll(keys);
        }

        void commit() {
            memory.under(() -> {
                memory.rows.putAll(written);
                effects.forEach(key -> memory.effects.merge(key, 1, Integer::sum));
                return null;
            });
            end();
        }

        /** Ends without a trace. Does nothing after a commit. */
        void end() {
            written.clear();
            effects.clear();
            memory.under(() -> {
                memory.locked.values().removeIf(owner -> owner == this);
                memory.unlocked.signalAll();
                return null;
            });
        }

        Memory memory() {
            return memory;
        }
    }
}
