package dev.idempotency.redis;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.store.GatedLeases;
import dev.idempotency.store.Lease;
import java.util.List;
import java.util.Objects;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Stores in Redis 6.2 or newer: a single server, one behind Sentinel, or a cluster.
 *
 * <p>Redis forgets more easily than a database: a failover loses what had not reached the replica, a restart what had not
 * reached the disk. A record that is lost is executed again when it is resent. Where that must not be, let the unique key of
 * a database have the last word; see {@code docs/guarantees.md}.
 */
public final class RedisStores {

    private RedisStores() {}

    /**
     * A store for actions whose effect lies outside of it, with {@link RedisLeaseOptions#defaults()}.
     *
     * @param client where to; the caller closes it
     * @param codec how responses are kept
     * @param <R> the response
     * @return a store for any number of threads
     * @throws StoreException if Redis is set to evict records, or is older than 6.2
     * @throws RetryableException if Redis can't be reached
     */
    public static <R> IdempotencyStore<Lease, R> leased(UnifiedJedis client, Codec<R> codec) {
        return leased(client, codec, RedisLeaseOptions.defaults());
    }

    /**
     * A store for actions whose effect lies outside of it. A claim and a completion are one round trip each, and so are a
     * release and an extension. Records go by their expiry: there is nothing to purge. Of duplicates that wait in this
     * process, one asks Redis and the others hold no connection. When made, the store asks Redis how it keeps what it
     * is told; by what records could be lost is told to {@link dev.idempotency.IdempotencyListener#warned} of each front door
     * that is built on it.
     *
     * @param client where to; the caller closes it. Its socket time-out bounds how long a call waits for Redis
     * @param codec how responses are kept
     * @param options lease, prefix and the rest
     * @param <R> the response
     * @return a store for any number of threads
     * @throws IllegalArgumentException if the lease is longer than the retention
     * @throws StoreException if Redis is set to evict records and that was not accepted, is older than 6.2, or can't tell what
     *     {@link RedisLeaseOptions#fsyncedBy} asks
     * @throws RetryableException if Redis can't be reached
     */
    public static <R> IdempotencyStore<Lease, R> leased(
            UnifiedJedis client, Codec<R> codec, RedisLeaseOptions options) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(codec, "codec");
        RedisKeys keys = new RedisKeys(options.prefix(), options.hashTag(), client instanceof RedisClusterClient);
        List<String> warnings = Durability.check(client, options);
        RedisLeases leases = new RedisLeases(new RedisScripts(client), keys, options.confirmation(), warnings);
        return new GatedLeases<>(leases, codec, options.leases());
    }
}
