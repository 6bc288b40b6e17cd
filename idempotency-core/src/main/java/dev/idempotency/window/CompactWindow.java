package dev.idempotency.window;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.StoreException;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A window in the memory of this process for millions of keys, which keeps bytes instead of objects: {@code
 * CompactWindow.lasting(Duration.ofMinutes(5), codec)}. An entry takes what its key and response take and about 20 bytes
 * more, and the garbage collector has nothing to trace in it. {@link WindowSizing} tells how much that is.
 *
 * <ol>
 *   <li>A key's hash, seeded for each window, chooses one of up to 64 shards. Each has a lock, an index and a log.
 *   <li>The log is a row of byte arrays, in which entries are written one after the other: the exact key, the response as
 *       the codec encoded it, the deadline, the record's identity, the fingerprint. A UUID in its canonical form takes 16
 *       bytes. The oldest array is dropped whole when all in it is over (compare Segcache: Yang and others, NSDI 2021).
 *   <li>The index is one table of pairs: 32 bits of the hash, and a place in the log. It grows bit by bit.
 * </ol>
 *
 * <p>An entry stays for as long as the window lasts, counted from when it was put, and no longer than the store keeps the
 * record; since deadlines are rounded down, up to a 131,072nd of the window's time less. A bound on entries or bytes
 * evicts the oldest. Memory is given back in the course of later puts, also from parts of the window that these don't
 * touch; while there are none, {@link #stats()} does it.
 *
 * <p>Each hit decodes the response anew, so callers that change it do so to their own. A response of more than {@value
 * #MAX_RESPONSE_BYTES} bytes is not kept. A codec that throws makes {@link #put} or {@link #get} throw, which the front
 * door reports to the listener and takes for a miss.
 *
 * <p>Identities of type {@link Long}, {@link Integer}, {@link String} (up to 255 bytes) and {@link java.util.UUID} come
 * back as they were. Any other one can't be told from bytes: it equals that of the keys that were {@link #putAll put along
 * with it}, and no other. So the keys of a request that were published apart don't hit together, and the store is asked,
 * which then publishes them at once.
 *
 * @param <R> the response
 */
public final class CompactWindow<R extends @Nullable Object> implements Window<R> {

    /** The longest response that is kept, in bytes as the codec encodes it. */
    public static final int MAX_RESPONSE_BYTES = 1 << 20;

    /** An identity that comes back as one that equals no other. */
    private static final Object NONE = new Object();

    private final Codec<R> codec;
    private final long lasting;
    private final Ticker ticker;
    private final KeyHash hashing;
    private final Shard[] shards;
    private final AtomicLong together = new AtomicLong();
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    private CompactWindow(Codec<R> codec, Spec spec) {
        this.codec = codec;
        this.lasting = spec.lasting.toNanos();
        this.ticker = spec.ticker;
        this.hashing = new KeyHash(ThreadLocalRandom.current().nextLong(), spec.hashMask);
        this.shards = new Shard[spec.shards()];
        Namespaces namespaces = new Namespaces();
        Shard.Limits limits = new Shard.Limits(
                lasting,
                spec.maximumEntries == null ? Long.MAX_VALUE : Math.max(1, spec.maximumEntries / shards.length),
                spec.maximumBytes == null ? Long.MAX_VALUE : spec.maximumBytes / shards.length);
        for (int i = 0; i < shards.length; i++) {
            shards[i] = new Shard(shards, i, limits, new Entries(this, namespaces));
        }
    }

    /**
     * A window whose entries stay for a time.
     *
     * @param duration how long: the time within which nearly all repeats arrive
     * @param codec how responses are turned into bytes and back; of the type of response that the window is made for
     * @return how to make it; without bounds on entries or bytes
     * @throws IllegalArgumentException if the duration is not positive, or longer than 146 years
     */
    public static Spec lasting(Duration duration, Codec<?> codec) {
        return new Spec(
                Lasting.checked(duration),
                Objects.requireNonNull(codec, "codec"),
                null,
                null,
                Ticker.systemTicker(),
                -1);
    }

    @Override
    public long now() {
        return ticker.read();
    }

    /**
     * {@inheritDoc}
     *
     * @throws RuntimeException what the codec throws
     */
    @Override
    public @Nullable Original<R> get(IdempotencyKey key) {
        Name name = new Name(key, hashing);
        Original<R> original = shard(name).get(name, ticker.read(), codec);
        (original == null ? misses : hits).increment();
        return original;
    }

    /**
     * {@inheritDoc}
     *
     * @throws RuntimeException what the codec throws; what was there for the key is gone then
     */
    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        putAll(List.of(key), original, deadline);
    }

    /**
     * {@inheritDoc}
     *
     * @throws RuntimeException what the codec throws; what was there for the keys is gone then
     */
    @Override
    public void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
        long now = ticker.read();
        if (deadline - now <= 0) {
            return;
        }
        long until = deadline - now > lasting ? now + lasting : deadline;
        byte[] response;
        try {
            response = encoded(original.response());
        } catch (Throwable e) {
            keys.forEach(this::remove);
            throw e;
        }
        if (response != null && response.length > MAX_RESPONSE_BYTES) {
            keys.forEach(this::remove);
            return;
        }
        Object identity = original.identity();
        if (!Entries.isExact(identity)) {
            identity = keys.size() == 1 ? NONE : new Value.Together(this, together.incrementAndGet());
        }
        Value value = new Value(identity, original.fingerprint(), response);
        for (IdempotencyKey key : keys) {
            Name name = new Name(key, hashing);
            shard(name).put(name, value, until, now);
        }
    }

    @Override
    public void remove(IdempotencyKey key) {
        Name name = new Name(key, hashing);
        shard(name).remove(name);
    }

    @Override
    public void clear() {
        for (Shard shard : shards) {
            shard.clear();
        }
    }

    /** {@inheritDoc} It also gives back what is over in each part of the window. */
    @Override
    public Stats stats() {
        Shard.Counts counts = counts();
        return new Stats(hits.sum(), misses.sum(), counts.evictions(), counts.live());
    }

    /**
     * About what the entries take on the heap now, with the room that is set aside for more.
     *
     * @return bytes, on a 64-bit JVM with compressed references
     */
    public long bytes() {
        return counts().bytes();
    }

    private Shard.Counts counts() {
        long now = ticker.read();
        Shard.Counts counts = new Shard.Counts(0, 0, 0);
        for (Shard shard : shards) {
            counts = shard.plus(counts, now);
        }
        return counts;
    }

    private Shard shard(Name name) {
        return shards[(int) (name.hash >>> 32) & (shards.length - 1)];
    }

    private byte @Nullable [] encoded(R response) {
        if (response == null) {
            return null;
        }
        byte[] bytes = codec.encode(response);
        if (bytes == null) {
            throw new StoreException("the codec encoded a response as null, which no codec may", null);
        }
        return bytes;
    }

    /** How to make a {@link CompactWindow}. Immutable: each method returns another one. */
    public static final class Spec implements Window.Spec {

        private static final int MOST_SHARDS = 64;

        /** A shard that may hold less than this would be mostly its own overhead. */
        private static final int FEWEST_ENTRIES = 512;

        private static final int FEWEST_BYTES = 1 << 16;

        private final Duration lasting;
        private final Codec<?> codec;
        private final @Nullable Long maximumEntries;
        private final @Nullable Long maximumBytes;
        private final Ticker ticker;
        private final long hashMask;

        private Spec(
                Duration lasting,
                Codec<?> codec,
                @Nullable Long maximumEntries,
                @Nullable Long maximumBytes,
                Ticker ticker,
                long hashMask) {
            this.lasting = lasting;
            this.codec = codec;
            this.maximumEntries = maximumEntries;
            this.maximumBytes = maximumBytes;
            this.ticker = ticker;
            this.hashMask = hashMask;
        }

        /**
         * Bounds the number of entries. A request puts one entry for each of its keys. The bound is held by each shard for its
         * part, and the oldest go several at a time, so that the window holds somewhat fewer.
         *
         * @param entries the most entries; at least 1
         * @return another spec
         * @throws IllegalArgumentException if that is less than 1
         */
        public Spec atMostEntries(long entries) {
            return new Spec(lasting, codec, Lasting.atLeastOne("entries", entries), maximumBytes, ticker, hashMask);
        }

        /**
         * Bounds the memory that entries take, with the index and the room set aside for more. The bound is held as that of
         * {@link #atMostEntries}.
         *
         * @param bytes the most bytes; at least 1
         * @return another spec
         * @throws IllegalArgumentException if that is less than 1
         */
        public Spec atMostBytes(long bytes) {
            return new Spec(lasting, codec, maximumEntries, Lasting.atLeastOne("bytes", bytes), ticker, hashMask);
        }

        /**
         * Counts time by another clock, for tests and simulations.
         *
         * @param ticker nanoseconds, as Caffeine has them
         * @return another spec
         */
        public Spec ticker(Ticker ticker) {
            return new Spec(
                    lasting, codec, maximumEntries, maximumBytes, Objects.requireNonNull(ticker, "ticker"), hashMask);
        }

        /** Uses only some bits of the hash, so that a test sees keys collide. */
        Spec hashMask(long mask) {
            return new Spec(lasting, codec, maximumEntries, maximumBytes, ticker, mask);
        }

        @Override
        public Duration lasting() {
            return lasting;
        }

        /**
         * Makes a window; each call makes a new one.
         *
         * @param <R> the response: the one that the codec is of, which nothing checks here. With another one the codec fails at
         *     the first put
         * @return an empty window
         */
        @Override
        @SuppressWarnings("unchecked") // Specs know no type of response, so that one kind of spec serves all windows.
        public <R extends @Nullable Object> CompactWindow<R> create() {
            return new CompactWindow<>((Codec<R>) codec, this);
        }

        private int shards() {
            long most = Math.min(
                    maximumEntries == null ? MOST_SHARDS : maximumEntries / FEWEST_ENTRIES,
                    maximumBytes == null ? MOST_SHARDS : maximumBytes / FEWEST_BYTES);
            return (int) Long.highestOneBit(Math.max(1, Math.min(MOST_SHARDS, most)));
        }
    }
}
