package dev.idempotency.store;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.RetryableException;
import java.util.Objects;

/**
 * A store in the memory of this process, over a Caffeine cache: {@code CaffeineStore.leased(codec)}.
 *
 * <p>Within one process it gives every guarantee of a leased store; a restart forgets everything. A record stays until
 * its retention ends, and is never dropped for want of room: a store with a bound that is full refuses new keys with a
 * {@link RetryableException} before the action runs. Responses are kept as bytes, so that nobody can change them.
 */
public final class CaffeineStore {

    private CaffeineStore() {}

    /**
     * A store with {@link LeaseOptions#defaults()} and without a bound.
     *
     * @param codec how responses are kept
     * @param <R> the response
     * @return an empty store
     */
    public static <R> IdempotencyStore<Lease, R> leased(Codec<R> codec) {
        return leased(codec, LeaseOptions.defaults());
    }

    /**
     * A store without a bound.
     *
     * @param codec how responses are kept
     * @param options lease, retention and the rest
     * @param <R> the response
     * @return an empty store
     * @throws IllegalArgumentException if the lease is longer than the retention
     */
    public static <R> IdempotencyStore<Lease, R> leased(Codec<R> codec, LeaseOptions options) {
        return leased(codec, options, Long.MAX_VALUE);
    }

    /**
     * A store with a bound.
     *
     * @param codec how responses are kept
     * @param options lease, retention and the rest
     * @param maximumEntries the most keys; those of one record count each. The room of a record that has expired is given
     *     back within a few seconds
     * @param <R> the response
     * @return an empty store
     * @throws IllegalArgumentException if the lease is longer than the retention, or the bound is less than 1
     */
    public static <R> IdempotencyStore<Lease, R> leased(Codec<R> codec, LeaseOptions options, long maximumEntries) {
        return leased(codec, options, maximumEntries, Ticker.systemTicker());
    }

    /**
     * A store that counts time by another clock, for tests and simulations. Leases, retention and waiting are counted by
     * it; the pauses of one who waits are real.
     *
     * @param codec how responses are kept
     * @param options lease, retention and the rest
     * @param maximumEntries the most keys
     * @param ticker nanoseconds, as Caffeine has them
     * @param <R> the response
     * @return an empty store
     * @throws IllegalArgumentException if the lease is longer than the retention, or the bound is less than 1
     */
    public static <R> IdempotencyStore<Lease, R> leased(
            Codec<R> codec, LeaseOptions options, long maximumEntries, Ticker ticker) {
        Objects.requireNonNull(ticker, "ticker");
        return new LeasedStore<>(new CaffeineLeases(maximumEntries, ticker), codec, options, Waiting.by(ticker::read));
    }
}
