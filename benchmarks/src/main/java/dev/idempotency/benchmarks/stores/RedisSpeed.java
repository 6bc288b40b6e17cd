package dev.idempotency.benchmarks.stores;

import dev.idempotency.benchmarks.Results;
import dev.idempotency.testkit.servers.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.openjdk.jmh.runner.RunnerException;
import redis.clients.jedis.RedisClient;

/**
 * Runs {@link RedisBenchmark} in rounds, as {@link StoreSpeed} does with databases, and adds to the same file. The server keeps
 * nothing on disk.
 *
 * <p>Arguments: threads, such as {@code 1,8}, up to the 8 connections of a pool by default; rounds; seconds for each
 * way; and a regular expression for ways. Each may be left out from the right.
 */
public final class RedisSpeed {

    private static final List<String> WAYS = List.of(
            "redisFirst",
            "evalshaRedisFirst",
            "byHandRedisFirst",
            "redisRepeat",
            "evalshaRedisRepeat",
            "byHandRedisRepeat");

    private RedisSpeed() {}

    /**
     * Runs it.
     *
     * @param arguments as told above
     * @throws RunnerException if JMH can't run it
     * @throws IOException if results can't be written
     */
    public static void main(String[] arguments) throws RunnerException, IOException {
        List<Integer> threads = Arrays.stream(
                        StoreSpeed.argument(arguments, 0, "1,8").split(","))
                .map(Integer::valueOf)
                .toList();
        int rounds = Integer.parseInt(StoreSpeed.argument(arguments, 1, "5"));
        double seconds = Double.parseDouble(StoreSpeed.argument(arguments, 2, "2"));
        try (RedisServer server = RedisServer.start("--save", "")) {
            try (RedisClient client = RedisClient.create("127.0.0.1", server.port())) {
                Results.note(
                        "REDIS", "Redis " + client.info("server").replaceFirst("(?s).*redis_version:(\\S+).*", "$1"));
            }
            for (int count : threads) {
                run(server, count, rounds, seconds, Pattern.compile(StoreSpeed.argument(arguments, 3, ".*")));
            }
        }
    }

    private static void run(RedisServer server, int threads, int rounds, double seconds, Pattern ways)
            throws RunnerException, IOException {
        // Round 0 warms up, and is not written down.
        for (int round = 0; round <= rounds; round++) {
            List<String> order = new ArrayList<>(WAYS);
            if (round % 2 == 0) {
                Collections.reverse(order);
            }
            try (RedisClient client = RedisClient.create("127.0.0.1", server.port())) {
                client.flushAll();
                RedisBenchmark.current = new RedisBenchmark.Payments(client);
                for (String way : order) {
                    if (!ways.matcher(way).matches()) {
                        continue;
                    }
                    String measured = StoreSpeed.measured(RedisBenchmark.class, way, threads, seconds);
                    String line = String.format(Locale.ROOT, "REDIS,%d,%s,%d,%s", threads, way, round, measured);
                    if (round > 0) {
                        Results.add(StoreSpeed.FILE, StoreSpeed.HEADER, line);
                    } else {
                        System.out.println(line);
                    }
                }
            } finally {
                RedisBenchmark.current = null;
            }
        }
    }
}
