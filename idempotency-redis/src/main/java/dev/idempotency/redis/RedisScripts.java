package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Runs scripts.
 *
 * <ol>
 *   <li>By digest, which is one round trip.
 *   <li>A server that does not know the script, because it was started, promoted or flushed since, is sent the source,
 *       which it then knows.
 *   <li>Where somebody is to confirm, the script and {@code WAIT} or {@code WAITAOF} go out together on one connection, since
 *       these are about what was written by the last command of their own connection.
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

    /** As {@link #run}, and says who has not confirmed it. */
    Confirmed runAndWait(Script script, List<byte[]> keys, List<byte[]> arguments, Confirmation confirmation) {
        try {
            boolean known = true;
            boolean moved = false;
            while (true) {
                try (AbstractPipeline pipeline = client.pipelined()) {
                    Response<Object> answer = known
                            ? pipeline.evalsha(script.digest(), keys, arguments)
                            : pipeline.eval(script.source(), keys, arguments);
                    Response<?> confirmed = confirmation.ask(pipeline, keys.get(0));
                    pipeline.sync();
                    return new Confirmed(answer.get(), confirmation.missing(confirmed));
                } catch (JedisNoScriptException e) {
                    if (!known) {
                        throw e;
                    }
                    known = false;
                } catch (JedisMovedDataException e) {
                    // A pipeline does not follow its slot, nor does its client hear of it.
                    if (moved || !(client instanceof RedisClusterClient cluster)) {
                        throw e;
                    }
                    moved = true;
                    cluster.refreshClusterTopology();
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

    /** What a script has answered, and who did not have it in time, if anybody. */
    record Confirmed(Object answer, @Nullable NotReplicatedException tooFew) {}

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
