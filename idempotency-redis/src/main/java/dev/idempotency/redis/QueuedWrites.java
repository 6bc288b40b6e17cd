package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.params.SetParams;

/**
 * Writes to Redis that nobody waits for.
 *
 * <ol>
 *   <li>A write is queued, with the moment from which on it may not be served. The queue is bounded by bytes: a write that
 *       finds no room is dropped, and its caller told.
 *   <li>One thread at a time takes what is queued, in order, and sends it in one pipeline: under load many writes are one
 *       round trip. What has waited past its time is skipped.
 *   <li>If what is being sent takes longer than agreed, further writes are dropped, and count as failed.
 *   <li>A failure counts for each write that was sent along. It is kept until somebody can be told, since those who wrote have
 *       gone on.
 *   <li>{@link #forget Forgetting} drops what is queued, and waits for what is being sent: nothing that was queued before
 *       is written after it.
 * </ol>
 */
final class QueuedWrites {

    private static final int BYTES = 4 << 20;
    /** What a write counts at the least: so that no more than 1,024 are queued. */
    private static final int LEAST_BYTES = 4 << 10;

    private static final int SENT_AT_ONCE = 100;

    private final UnifiedJedis client;
    private final RedisScripts scripts;
    private final Executor threads;
    private final BoundedCalls.Kind kind;
    private final Duration within;
    private final Queue<Write> queue = new ConcurrentLinkedQueue<>();
    private final Semaphore room = new Semaphore(BYTES);
    private final AtomicBoolean underWay = new AtomicBoolean();
    /** Fair, so that who forgets gets its turn between two pipelines. */
    private final ReentrantLock sending = new ReentrantLock(true);

    private final AtomicReference<@Nullable RuntimeException> untold = new AtomicReference<>();
    private volatile long since;

    QueuedWrites(UnifiedJedis client, RedisScripts scripts, Executor threads, BoundedCalls.Kind kind, Duration within) {
        this.client = client;
        this.scripts = scripts;
        this.threads = threads;
        this.kind = kind;
        this.within = within;
    }

    /** One value under some keys. */
    @SuppressWarnings("ArrayRecordComponent") // Compared by nothing but which one it is.
    private record Write(List<byte[]> keys, byte[] value, long until) {

        int bytes() {
            long bytes = (long) keys.size() * value.length;
            return (int) Math.min(BYTES, Math.max(LEAST_BYTES, bytes));
        }

        boolean has(byte[] key) {
            return keys.stream().anyMatch(each -> Arrays.equals(each, key));
        }
    }

    /**
     * Writes soon; or not at all, while Redis is left alone.
     *
     * @param until the value of {@link System#nanoTime()} from which on it may not be there
     * @throws RuntimeException if it is dropped; or if an earlier write has failed, and this one is queued
     */
    void put(List<byte[]> keys, byte[] value, long until) {
        if (kind.permitted()) {
            Write write = new Write(keys, value, until);
            if (underWay.get() && System.nanoTime() - since > within.toNanos()) {
                throw kind.failed(new RetryableException("Redis did not take what was written within " + within, null));
            }
            if (!room.tryAcquire(write.bytes())) {
                throw kind.failed(new RetryableException("too much waits to be written to Redis", null));
            }
            queue.add(write);
            begin();
        }
        tellFailure();
    }

    /** Throws what has failed since, if anything has. */
    void tellFailure() {
        RuntimeException failure = untold.get() == null ? null : untold.getAndSet(null);
        if (failure != null) {
            throw failure;
        }
    }

    /** A failure whose caller was not to be disturbed. */
    void tellLater(RuntimeException failure) {
        untold.compareAndSet(null, failure);
    }

    /** Drops what is queued for a key, or everything; after that, nothing of it is written any more. */
    void forget(byte @Nullable [] key) {
        sending.lock();
        try {
            for (Write write : List.copyOf(queue)) {
                if ((key == null || write.has(key)) && queue.remove(write)) {
                    room.release(write.bytes());
                    kind.notMade();
                }
            }
        } finally {
            sending.unlock();
        }
    }

    private void begin() {
        if (underWay.get()) {
            return;
        }
        since = System.nanoTime();
        if (underWay.compareAndSet(false, true)) {
            try {
                threads.execute(this::sendAll);
            } catch (RejectedExecutionException e) {
                underWay.set(false);
                over(takeAll(Integer.MAX_VALUE), new RetryableException("too many calls wait for Redis", e));
            }
        }
    }

    private void sendAll() {
        do {
            try {
                while (sendSome()) {
                    since = System.nanoTime();
                }
            } finally {
                underWay.set(false);
            }
        } while (!queue.isEmpty() && underWay.compareAndSet(false, true));
    }

    /** Sends some of what is queued, by the caller's thread, after what is being sent. False if nothing is queued. */
    boolean sendSome() {
        sending.lock();
        try {
            List<Write> some = takeAll(SENT_AT_ONCE);
            if (some.isEmpty()) {
                return false;
            }
            RuntimeException failure = null;
            try {
                send(some);
            } catch (RuntimeException e) {
                failure = e;
            } finally {
                over(some, failure);
            }
            return true;
        } finally {
            sending.unlock();
        }
    }

    private List<Write> takeAll(int atMost) {
        List<Write> taken = new ArrayList<>();
        while (taken.size() < atMost) {
            Write next = queue.poll();
            if (next == null) {
                break;
            }
            taken.add(next);
        }
        return taken;
    }

    private void over(List<Write> writes, @Nullable RuntimeException failure) {
        for (Write write : writes) {
            room.release(write.bytes());
            if (failure == null) {
                kind.succeeded();
                continue;
            }
            RuntimeException told = kind.failed(failure);
            if (told == failure) {
                tellLater(failure);
            } else {
                // The news that Redis is left alone goes before any other.
                untold.set(told);
            }
        }
    }

    private void send(List<Write> writes) {
        List<Set> sets = new ArrayList<>();
        long now = System.nanoTime();
        for (Write write : writes) {
            long millis = (write.until - now) / 1_000_000;
            if (millis > 0) {
                write.keys.forEach(key ->
                        sets.add(new Set(key, write.value, SetParams.setParams().px(millis))));
            }
        }
        try {
            if (sets.size() == 1) {
                sets.get(0).on(client);
            } else if (!sets.isEmpty()) {
                sendInPipeline(sets);
            }
        } catch (RuntimeException e) {
            throw scripts.failed(e);
        }
    }

    private void sendInPipeline(List<Set> sets) {
        List<Response<String>> responses = new ArrayList<>();
        try (AbstractPipeline pipeline = client.pipelined()) {
            sets.forEach(set -> responses.add(pipeline.set(set.key, set.value, set.expiry)));
            pipeline.sync();
        }
        for (int i = 0; i < sets.size(); i++) {
            try {
                responses.get(i).get();
            } catch (JedisRedirectionException | IllegalStateException e) {
                // On a cluster: a slot that has moved, or a server that was not reached. The client itself follows.
                sets.get(i).on(client);
            }
        }
    }

    /** A command. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Set(byte[] key, byte[] value, SetParams expiry) {
        void on(UnifiedJedis client) {
            client.set(key, value, expiry);
        }
    }
}
