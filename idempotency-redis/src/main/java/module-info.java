/**
 * A store and a window in Redis, through Jedis. Start with {@link dev.idempotency.redis.RedisStores} or {@link
 * dev.idempotency.redis.RedisWindow}.
 */
module dev.idempotency.redis {
    requires transitive dev.idempotency.core;
    requires transitive redis.clients.jedis;
    requires io.github.resilience4j.circuitbreaker;
    // Needed by Jedis, which as an automatic module cannot say so.
    requires com.google.gson;
    requires org.apache.commons.pool2;
    requires org.json;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports dev.idempotency.redis;
}
