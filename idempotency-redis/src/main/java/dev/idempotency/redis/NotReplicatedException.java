package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import org.jspecify.annotations.Nullable;

/**
 * Redis wrote a record, and it was not confirmed in time by as many as were asked for ({@link RedisLeaseOptions#confirmedBy},
 * {@link RedisLeaseOptions#fsyncedBy}). Thrown by a claim before its action runs, and the key is given back if Redis can still be
 * reached. Of a completion it is the cause of a {@link dev.idempotency.OutcomeUnknownException}: the action has run, and a
 * failover or a loss of power now may lose the record.
 */
public final class NotReplicatedException extends RetryableException {

    private static final long serialVersionUID = 1L;

    NotReplicatedException(String who, @Nullable Throwable cause) {
        super("the record was written, and " + who, cause);
    }
}
