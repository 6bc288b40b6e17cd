package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Runs scripts.
 *
 * <ol>
 *   <li>By digest, which is one round trip.
 *   <li>A server that does not know the script, because it was started, promoted or flushed since, is sent the source,
 *       which it then knows.
 *   <li>Where replicas are to confirm, the script and {@code WAIT} go out together on one connection, since {@code WAIT}
 *       is about what was written by the last command of its own connection.
 * </ol>
 *
 * <p>A connection that failed or timed out is closed by Jedis and never used again, so that a late reply is nobody's. After a
 * demotion or a lost connection all idle ones are closed too, as they are of no use: the next ones are made to whoever has
 * the address by then.
 */
final class RedisScripts {

    private final UnifiedJedis client;

    RedisScripts(UnifiedJedis client) {
        this.client = client;
    }

    /**
     * Runs a script.
     *
     * @throws RetryableException if nothing was changed, and trying again is worth it
     * @throws StoreException if nothing was changed, and trying again is not
     * @throws RuntimeException any other if it is not known whether the script was run
     */
    Object run(Script script, List<byte[]> keys, List<byte[]> arguments) {
        try {
            return byDigest(script, keys, arguments);
        } catch (RuntimeException e) {
            throw failed(e);
        }
    }

    /** As {@link #run}, and says by how many replicas it was confirmed. */
    Confirmed runAndWait(Script script, List<byte[]> keys, List<byte[]> arguments, int replicas, long millis) {
        try {
            for (boolean known = true; ; known = false) {
                try (AbstractPipeline pipeline = client.pipelined()) {
                    Response<Object> answer = known
                            ? pipeline.evalsha(script.digest(), keys, arguments)
                            : pipeline.eval(script.source(), keys, arguments);
                    Response<Long> confirmed = pipeline.waitReplicas(keys.get(0), replicas, millis);
                    pipeline.sync();
                    try {
                        return new Confirmed(answer.get(), confirmed.get());
                    } catch (JedisNoScriptException e) {
                        if (!known) {
                            throw e;
                        }
                    }
                }
            }
        } catch (RuntimeException e) {
            throw failed(e);
        }
    }

    /**
     * Runs a script many times in one pipeline, by its digest alone.
     *
     * @return what each has answered; null where it has not, or that is not known
     */
    List<@Nullable Object> runAll(Script script, List<Call> calls) {
        List<Response<Object>> responses = new ArrayList<>();
        try (AbstractPipeline pipeline = client.pipelined()) {
            for (Call call : calls) {
                responses.add(pipeline.evalsha(script.digest(), call.keys(), call.arguments()));
            }
            pipeline.sync();
        } catch (RuntimeException e) {
            // Whoever asks again, as the same owner, finds out what has become of it.
            return Collections.nCopies(calls.size(), null);
        }
        List<@Nullable Object> answers = new ArrayList<>();
        for (Response<Object> response : responses) {
            answers.add(answer(response));
        }
        return answers;
    }

    /** Runs a script for each of some keys, wherever these are: in one pipeline, and once more by itself where that failed. */
    List<Object> runEach(Script script, List<byte[]> keys) {
        if (keys.size() == 1) {
            return List.of(run(script, keys, List.of()));
        }
        List<Call> calls =
                keys.stream().map(key -> new Call(List.of(key), List.of())).toList();
        List<@Nullable Object> answers = runAll(script, calls);
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            Object answer = answers.get(i);
            all.add(answer == null ? run(script, calls.get(i).keys(), List.of()) : answer);
        }
        return all;
    }

    private static @Nullable Object answer(Response<Object> response) {
        try {
            return response.get();
        } catch (RuntimeException e) {
            return null;
        }
    }

    /** One of many. */
    record Call(List<byte[]> keys, List<byte[]> arguments) {}

    /** What a script has answered, and how many replicas had it in time. */
    record Confirmed(Object answer, long replicas) {}

    private Object byDigest(Script script, List<byte[]> keys, List<byte[]> arguments) {
        try {
            return client.evalsha(script.digest(), keys, arguments);
        } catch (JedisNoScriptException e) {
            return client.eval(script.source(), keys, arguments);
        }
    }

    /** What to throw for a failure; idle connections that are of no use either are closed. */
    RuntimeException failed(RuntimeException failure) {
        if (RedisFailures.concernsAllConnections(failure) && client instanceof RedisClient single) {
            single.getPool().clear();
        }
        return RedisFailures.translated(failure);
    }
}
