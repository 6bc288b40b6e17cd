package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** What a failure of Redis, or on the way to it, means. */
final class RedisFailures {

    /**
     * Codes of a server that can't serve now. Redis 6 puts the code of a command in a script into the middle of a sentence. Two
     * have no code: a server that takes no more connections, and a name of a record whose slot is being moved.
     */
    private static final Pattern NOT_NOW = Pattern.compile(
            "(^|[ -])(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|NOREPLICAS|MISCONF|MOVED|ASK)( |$)"
                    + "|max number of clients reached|attempted to access a non local key");

    private static final Pattern DEMOTED = Pattern.compile("(^|[ -])(READONLY|MASTERDOWN)( |$)");

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

    /** Whether other connections to that server are of no use either: it is a replica now, or it has closed one. */
    static boolean concernsAllConnections(RuntimeException failure) {
        return failure instanceof JedisDataException
                ? DEMOTED.matcher(String.valueOf(failure.getMessage())).find()
                : failure instanceof JedisConnectionException
                        && !(failure.getCause() instanceof SocketTimeoutException);
    }

    /**
     * Whether no connection was had: none could be made, or none was free. What a cluster's client has tried several times
     * is not among it, as an earlier try may have been sent.
     */
    private static boolean neverSent(RuntimeException failure) {
        if (failure instanceof JedisConnectionException) {
            // Jedis tries each address of a host, and keeps what became of them as suppressed exceptions.
            Throwable[] addresses = failure.getSuppressed();
            return refused(failure.getCause())
                    || (addresses.length > 0 && Arrays.stream(addresses).allMatch(RedisFailures::refused));
        }
        return failure.getClass() == JedisException.class && failure.getCause() instanceof NoSuchElementException;
    }

    private static boolean refused(@Nullable Throwable cause) {
        return cause instanceof ConnectException
                || cause instanceof NoRouteToHostException
                || cause instanceof UnknownHostException;
    }
}
