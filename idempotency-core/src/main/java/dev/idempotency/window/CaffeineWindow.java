package dev.idempotency.window;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A window in the memory of this process, over a Caffeine cache: {@code
 * CaffeineWindow.lasting(Duration.ofMinutes(5))}.
 *
 * <p>An entry stays for as long as the window lasts, counted from when it was put, and no longer than the store keeps
 * the record. A bound on entries or bytes evicts earlier, by Caffeine's policy, which may drop the newest entry as well
 * as the oldest; the store then stops the repeat.
 *
 * <p>Responses are kept as the objects that they are, and each hit is handed the same one: a response that callers can
 * change needs an immutable form, or no window.
 */
public final class CaffeineWindow<R extends @Nullable Object> implements Window<R> {

    private final Cache<IdempotencyKey, Entry<R>> entries;
    private final Ticker ticker;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder evictions;

    private CaffeineWindow(Cache<IdempotencyKey, Entry<R>> entries, Ticker ticker, LongAdder evictions) {
        this.entries = entries;
        this.ticker = ticker;
        this.evictions = evictions;
    }

    /**
     * A window whose entries stay for a time.
     *
     * @param duration how long: the time within which nearly all repeats arrive
     * @return how to make it; without bounds on entries or bytes
     * @throws IllegalArgumentException if the duration is not positive, or longer than 146 years
     */
    public static Spec lasting(Duration duration) {
        return new Spec(Lasting.checked(duration), null, null, null, Ticker.systemTicker(), null);
    }

    @Override
    public long now() {
        return ticker.read();
    }

    @Override
    public @Nullable Original<R> get(IdempotencyKey key) {
        Entry<R> entry = entries.getIfPresent(key);
        if (entry == null || entry.deadline - ticker.read() <= 0) {
            misses.increment();
            return null;
        }
        hits.increment();
        return entry.original;
    }

    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        if (deadline - ticker.read() > 0) {
            entries.put(key, new Entry<>(original, deadline));
        }
    }

    @Override
    public void remove(IdempotencyKey key) {
        entries.invalidate(key);
    }

    @Override
    public void clear() {
        entries.invalidateAll();
    }

    @Override
    public Stats stats() {
        return new Stats(hits.sum(), misses.sum(), evictions.sum(), entries.estimatedSize());
    }

    private record Entry<R extends @Nullable Object>(Original<R> original, long deadline) {}

    /** How to make a {@link CaffeineWindow}. Immutable: each method returns another one. */
    public static final class Spec implements Window.Spec {

        /**
         * What an entry takes beside its key's texts and its response: Caffeine's node, this class's record, the key's record and
         * strings' headers, on a 64-bit JVM with compressed references.
         */
        private static final int OVERHEAD_BYTES = 210;

        private final Duration lasting;
        private final @Nullable Long maximumEntries;
        private final @Nullable Long maximumBytes;
        private final @Nullable ToIntFunction<Object> responseBytes;
        private final Ticker ticker;
        private final @Nullable Executor executor;

        private Spec(
                Duration lasting,
                @Nullable Long maximumEntries,
                @Nullable Long maximumBytes,
                @Nullable ToIntFunction<Object> responseBytes,
                Ticker ticker,
                @Nullable Executor executor) {
            this.lasting = lasting;
            this.maximumEntries = maximumEntries;
            this.maximumBytes = maximumBytes;
            this.responseBytes = responseBytes;
            this.ticker = ticker;
            this.executor = executor;
        }

        /**
         * Bounds the number of entries. A request puts one entry for each of its keys.
         *
         * @param entries the most entries; at least 1
         * @return another spec
         * @throws IllegalArgumentException if that is less than 1, or bytes are bounded already
         */
        public Spec atMostEntries(long entries) {
            Lasting.atLeastOne("entries", entries);
            if (maximumBytes != null) {
                throw new IllegalArgumentException("a window is bounded by entries or by bytes, not both");
            }
            return new Spec(lasting, entries, null, null, ticker, executor);
        }

        /**
         * Bounds the memory that entries take, by an estimate: the bytes of the key and of the response, and
         * {@value #OVERHEAD_BYTES} beside them.
         *
         * @param bytes the most bytes; at least 1
         * @param responseBytes about how many bytes a response takes; not asked about null
         * @return another spec
         * @throws IllegalArgumentException if that is less than 1, or entries are bounded already
         */
        public Spec atMostBytes(long bytes, ToIntFunction<Object> responseBytes) {
            Lasting.atLeastOne("bytes", bytes);
            Objects.requireNonNull(responseBytes, "responseBytes");
            if (maximumEntries != null) {
                throw new IllegalArgumentException("a window is bounded by entries or by bytes, not both");
            }
            return new Spec(lasting, null, bytes, responseBytes, ticker, executor);
        }

        /**
         * Counts time by another clock, for tests and simulations.
         *
         * @param ticker nanoseconds, as Caffeine has them
         * @return another spec
         */
        public Spec ticker(Ticker ticker) {
            return new Spec(
                    lasting,
                    maximumEntries,
                    maximumBytes,
                    responseBytes,
                    Objects.requireNonNull(ticker, "ticker"),
                    executor);
        }

        /**
         * Runs Caffeine's upkeep elsewhere than in the common pool.
         *
         * @param executor where; {@code Runnable::run} for on the calling thread
         * @return another spec
         */
        public Spec executor(Executor executor) {
            return new Spec(
                    lasting,
                    maximumEntries,
                    maximumBytes,
                    responseBytes,
                    ticker,
                    Objects.requireNonNull(executor, "executor"));
        }

        @Override
        public Duration lasting() {
            return lasting;
        }

        @Override
        public <R extends @Nullable Object> CaffeineWindow<R> create() {
            LongAdder evictions = new LongAdder();
            Caffeine<Object, Object> builder = Caffeine.newBuilder()
                    .expireAfterWrite(lasting)
                    .ticker(ticker)
                    .evictionListener((key, entry, cause) -> evictions.increment());
            if (executor != null) {
                builder.executor(executor);
            }
            if (maximumEntries != null) {
                builder.maximumSize(maximumEntries);
            }
            if (maximumBytes == null || responseBytes == null) {
                return new CaffeineWindow<>(builder.build(), ticker, evictions);
            }
            ToIntFunction<Object> size = responseBytes;
            return new CaffeineWindow<>(
                    builder.maximumWeight(maximumBytes)
                            .<IdempotencyKey, Entry<R>>weigher((key, entry) -> weight(key, entry.original, size))
                            .build(),
                    ticker,
                    evictions);
        }

        private static int weight(IdempotencyKey key, Original<?> original, ToIntFunction<Object> size) {
            Object response = original.response();
            long bytes = OVERHEAD_BYTES
                    + bytes(key.namespace())
                    + bytes(key.scope())
                    + bytes(key.id())
                    + (response == null ? 0L : size.applyAsInt(response));
            return (int) Math.min(bytes, Integer.MAX_VALUE);
        }

        /** As the JVM keeps texts: one byte a character if all are Latin-1, two otherwise. */
        private static long bytes(String text) {
            return text.chars().allMatch(c -> c < 0x100) ? text.length() : 2L * text.length();
        }
    }
}
