package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.NoSuchElementException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** What a failure of Redis, or on the way to it, means. */
final class RedisFailures {

    /** Codes of a server that can't serve now. Redis 6 puts the code of a command in a script into the middle of a sentence. */
    private static final Pattern NOT_NOW = Pattern.compile(
            "(^|[ -])(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|NOREPLICAS|MISCONF|MOVED|ASK)( |$)");

    private static final Pattern DEMOTED = Pattern.compile("(^|[ -])READONLY( |$)");

    private RedisFailures() {}

    /** What to throw: nothing was changed, and retryable or not; or the failure itself, if that can't be told. */
    static RuntimeException translated(RuntimeException failure) {
        if (failure instanceof JedisDataException) {
            String message = String.valueOf(failure.getMessage());
            return NOT_NOW.matcher(message).find()
                    ? new RetryableException("Redis can't serve now: " + message, failure)
                    : new StoreException("Redis refused a command: " + message, failure);
        }
        return neverSent(failure)
                ? new RetryableException("Redis can't be reached, or no connection of the pool is free", failure)
                : failure;
    }

    /** Whether the server is a replica now, so that connections to it are of no use any more. */
    static boolean demoted(RuntimeException failure) {
        return failure instanceof JedisDataException
                && DEMOTED.matcher(String.valueOf(failure.getMessage())).find();
    }

    private static boolean neverSent(@Nullable Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectException
                    || cause instanceof NoRouteToHostException
                    || cause instanceof UnknownHostException
                    || (cause instanceof NoSuchElementException && !(failure instanceof JedisConnectionException))) {
                return true;
            }
        }
        return false;
    }
}
