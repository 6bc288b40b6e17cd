package dev.idempotency.redis;

import dev.idempotency.RetryableException;

/**
 * Redis wrote a record, and fewer replicas than were asked for confirmed it in time ({@link RedisLeaseOptions#confirmedBy}).
 * Thrown by a claim before its action runs, and the key is given back if Redis can still be reached. Of a completion it is
 * the cause of a {@link dev.idempotency.OutcomeUnknownException}: the action has run, and a failover now may lose the record.
 */
public final class NotReplicatedException extends RetryableException {

    private static final long serialVersionUID = 1L;

    NotReplicatedException(long confirmed, int wanted) {
        super(
                "the record was written, and " + confirmed + " of " + wanted
                        + " replicas confirmed it in time; look at the replicas and their lag",
                null);
    }
}
