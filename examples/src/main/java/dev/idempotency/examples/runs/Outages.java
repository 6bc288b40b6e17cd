package dev.idempotency.examples.runs;

import dev.idempotency.Codec;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.redis.RedisWindow;
import dev.idempotency.testkit.servers.RedisServer;
import dev.idempotency.window.TieredWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import redis.clients.jedis.RedisClient;

/**
 * What becomes of a service when the Redis behind its window fails.
 *
 * <ol>
 *   <li>Two services stand on one database. One has two instances, each with a window of its own, and a window in Redis that
 *       they share. The other has a window of its own only.
 *   <li>Each sender sends a new key to either service, one after the other, taking turns in which is first; then it sends
 *       both again, the first one to its other instance.
 *   <li>Redis is killed, paused, filled, emptied and made read-only for a while each, with a while in good health before.
 *   <li>No call fails, nothing is stored twice, each repeat gets the first reply, and whatever befalls Redis, the median of
 *       first calls is within 1.2 times that without Redis, at the same time.
 * </ol>
 */
@Command(
        name = "outages",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        description =
                "The Redis behind a window fails in five ways, and calls are counted and timed with it and without.")
public final class Outages implements Callable<Integer> {

    private static final double WITHIN = 1.2;
    private static final long GO_ON_MILLIS = 50;
    private static final Duration REDIS_WINDOW = Duration.ofMinutes(5);

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Option(names = "--phase", paramLabel = "MS", description = "length of each fault; default ${DEFAULT-VALUE}")
    private int millis = 20_000;

    @Option(names = "--threads", paramLabel = "N", description = "senders; default ${DEFAULT-VALUE}")
    private int threads = 4;

    private final Counts counts = new Counts();
    private final AtomicLong numbers = new AtomicLong();
    private volatile Phase phase = new Phase();
    private volatile boolean over;

    Outages() {}

    /** Microseconds of first calls in a while. */
    private record Phase(Histogram with, Histogram without) {
        Phase() {
            this(Traffic.histogram(), Traffic.histogram());
        }
    }

    /**
     * Runs the program.
     *
     * @param arguments options; see {@code --help}
     */
    public static void main(String[] arguments) {
        Program.main(new Outages(), arguments);
    }

    @Override
    public Integer call() throws Exception {
        if (spec == null) {
            throw new IllegalStateException("picocli gives the spec before it calls");
        }
        database.check(StoreKind.TRANSACTIONAL, spec);
        Print print = new Print(spec.commandLine().getOut());
        print.line("transactional on %s, %s: %,d senders", database.database, database.durability(), threads);
        try (RunningDatabase running = database.open();
                RedisServer redis = RedisServer.start("--save", "");
                RedisClient client = RedisClient.create("127.0.0.1", redis.port());
                Service one = shared(settings(running, "with"), client);
                Service other = shared(settings(running, "with"), client);
                Service without = new TransactionalService(settings(running, "without"))) {
            List<Thread> senders = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread sender = new Thread(() -> send(one, other, without), "sender-" + i);
                sender.start();
                senders.add(sender);
            }
            // What is compiled and cached by then is nobody's advantage.
            TimeUnit.MILLISECONDS.sleep(millis);
            for (RedisFault fault : RedisFault.values()) {
                during(RedisFault.HEALTHY, redis);
                report(fault, during(fault, redis), print);
            }
            over = true;
            for (Thread sender : senders) {
                sender.join();
            }
            print.line("replayed %s", counts.text("replayed "));
            print.check(counts.sum("failure ") == 0, "failed calls: " + counts.text("failure "));
            print.check(
                    counts.get("other reply") == 0, "replies that differ from the first: " + counts.get("other reply"));
            stored("with", one, print);
            stored("without", without, print);
        }
        return print.verdict();
    }

    private ServiceSettings settings(RunningDatabase running, String run) {
        return new ServiceSettings(
                StoreKind.TRANSACTIONAL, database.database, running.url(), run, threads, Duration.ofSeconds(30), true);
    }

    private Service shared(ServiceSettings settings, RedisClient client) {
        return new TransactionalService(
                settings,
                TieredWindow.of(JdbcService.nearWindow(), RedisWindow.lasting(REDIS_WINDOW, client, Codec.utf8())),
                failure -> counts.add("window failed"));
    }

    private Phase during(RedisFault fault, RedisServer redis) throws InterruptedException {
        Phase current = new Phase();
        // A client for each: the connections of an earlier one may have ended with the server.
        try (RedisClient client = RedisClient.create("127.0.0.1", redis.port())) {
            fault.begin(redis, client, millis);
            phase = current;
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            while (System.nanoTime() - end < 0) {
                TimeUnit.MILLISECONDS.sleep(GO_ON_MILLIS);
                fault.goOn(client);
            }
            phase = new Phase();
            fault.end(redis, client);
        }
        return current;
    }

    private void report(RedisFault fault, Phase measured, Print print) {
        double ratio = (double) measured.with().getValueAtPercentile(50)
                / Math.max(1, measured.without().getValueAtPercentile(50));
        print.line("Redis %s; failures of the window so far: %,d", fault, counts.get("window failed"));
        print.line("  with Redis:    %s", Traffic.text(measured.with()));
        print.line("  without Redis: %s", Traffic.text(measured.without()));
        String promise = String.format("median with a Redis that is %s is %.2f times that without", fault, ratio);
        if (fault == RedisFault.HEALTHY) {
            print.line("        %s", promise);
        } else {
            print.check(ratio <= WITHIN, promise);
        }
    }

    private void send(Service one, Service other, Service without) {
        while (!over) {
            long number = numbers.getAndIncrement();
            Phase current = phase;
            boolean redisFirst = number % 2 == 0;
            String first = redisFirst ? timed(one, "with", number, current.with()) : "";
            String plain = timed(without, "without", number, current.without());
            if (!redisFirst) {
                first = timed(one, "with", number, current.with());
            }
            same(first, call(other, "with", number));
            same(first, call(one, "with", number));
            same(plain, call(without, "without", number));
        }
    }

    private String timed(Service service, String run, long number, Histogram latencies) {
        long start = System.nanoTime();
        String response = call(service, run, number);
        latencies.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
        return response;
    }

    private String call(Service service, String run, long number) {
        try {
            Outcome<String> outcome = service.send(
                    Keys.request(run, number, 0), new Effect(number, run + " " + System.nanoTime(), Duration.ZERO));
            if (outcome instanceof Executed) {
                counts.add("executed " + run);
            } else if (outcome instanceof Replayed<String> replayed) {
                counts.add("replayed " + run + " Redis by the " + replayed.source());
            }
            return outcome.response();
        } catch (RuntimeException e) {
            counts.add("failure " + e);
            return "";
        }
    }

    private void same(String first, String repeated) {
        if (!first.equals(repeated)) {
            counts.add("other reply");
        }
    }

    private void stored(String run, Service service, Print print) {
        Set<Long> seen = new HashSet<>();
        AtomicLong twice = new AtomicLong();
        service.effects((number, response) -> {
            if (!seen.add(number)) {
                twice.incrementAndGet();
            }
        });
        print.check(twice.get() == 0, String.format("stored twice, %s Redis: %,d", run, twice.get()));
        print.check(
                seen.size() == numbers.get() && counts.get("executed " + run) == numbers.get(),
                String.format(
                        "stored, %s Redis: %,d, executed %,d, of %,d",
                        run, seen.size(), counts.get("executed " + run), numbers.get()));
    }
}
