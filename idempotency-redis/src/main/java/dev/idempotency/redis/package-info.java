/**
 * Redis as a store: {@link dev.idempotency.redis.RedisStores}; and as a window that processes share, in front of a database:
 * {@link dev.idempotency.redis.RedisWindow}.
 */
@NullMarked
package dev.idempotency.redis;

import org.jspecify.annotations.NullMarked;
