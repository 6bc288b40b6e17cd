package dev.idempotency.redis;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.KeyValue;

/**
 * Who has to have a record before a claim or a completion is answered.
 *
 * @param replicas how many replicas
 * @param fsynced whether on their disks, and on the master's, or in memory
 * @param within how long they have
 */
record Confirmation(int replicas, boolean fsynced, Duration within) {

    static final Confirmation NONE = new Confirmation(0, false, Duration.ofSeconds(1));

    /** Whether anybody is waited for. */
    boolean isAsked() {
        return fsynced || replicas > 0;
    }

    /** Adds the question to a pipeline, after the command that writes. */
    Response<?> ask(AbstractPipeline pipeline, byte[] key) {
        return fsynced
                ? pipeline.waitAOF(key, 1, replicas, within.toMillis())
                : pipeline.waitReplicas(key, replicas, within.toMillis());
    }

    /** What is missing by the answer, or null. A question that failed confirms nothing, and what was written stays. */
    @Nullable
    NotReplicatedException missing(Response<?> answer) {
        try {
            if (answer.get() instanceof KeyValue<?, ?> disks) {
                boolean own = ((Long) disks.getKey()) > 0;
                long others = (Long) disks.getValue();
                return own && others >= replicas
                        ? null
                        : new NotReplicatedException(
                                (own ? "the master" : "not the master") + " and " + others + " of " + replicas
                                        + " replicas flushed it in time; look at their disks and lag",
                                null);
            }
            long confirmed = (Long) answer.get();
            return confirmed >= replicas
                    ? null
                    : new NotReplicatedException(
                            confirmed + " of " + replicas
                                    + " replicas confirmed it in time; look at the replicas and their lag",
                            null);
        } catch (JedisDataException failure) {
            // As UNBLOCKED of a master that became a replica meanwhile.
            return new NotReplicatedException("Redis does not say who has it: " + failure.getMessage(), failure);
        }
    }
}
