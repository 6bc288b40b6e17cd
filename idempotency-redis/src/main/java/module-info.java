/** A store in Redis, through Jedis. Start with {@link dev.idempotency.redis.RedisStores}. */
module dev.idempotency.redis {
    requires transitive dev.idempotency.core;
    requires transitive redis.clients.jedis;
    requires static transitive org.jspecify;

    exports dev.idempotency.redis;
}
