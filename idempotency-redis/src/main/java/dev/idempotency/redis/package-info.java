/** Stores in Redis. Start with {@link dev.idempotency.redis.RedisStores}. */
@NullMarked
package dev.idempotency.redis;

import org.jspecify.annotations.NullMarked;
