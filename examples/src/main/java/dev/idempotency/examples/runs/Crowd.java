package dev.idempotency.examples.runs;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.RetryableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A crowd of copies of one slow key, and what it does to everybody else's calls.
 *
 * <ol>
 *   <li>Other keys arrive steadily, in rounds without the crowd and with it, one after the other.
 *   <li>In a round with it, all copies of one key arrive at once; its action takes its time.
 *   <li>The latency of the other keys counts from when each should have started. Its 99th percentile with the crowd is to
 *       be within twice what it is without. The crowd gets one execution and one reply.
 * </ol>
 */
@Command(
        name = "crowd",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        description = "A thousand copies of one slow key wait, and other keys' calls are timed with them and without.")
public final class Crowd implements Callable<Integer> {

    private static final double WITHIN = 2.0;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--store", paramLabel = "S", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}")
    private StoreKind store = StoreKind.OWN_TABLE;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Option(names = "--duplicates", paramLabel = "N", description = "copies of the slow key; default ${DEFAULT-VALUE}")
    private int duplicates = 1_000;

    @Option(names = "--takes", paramLabel = "MS", description = "of the slow action; default ${DEFAULT-VALUE}")
    private int takes = 2_000;

    @Option(names = "--every", paramLabel = "MS", description = "between two other keys; default ${DEFAULT-VALUE}")
    private int every = 10;

    @Option(names = "--pool", paramLabel = "N", description = "connections; default ${DEFAULT-VALUE}")
    private int pool = 8;

    @Option(names = "--rounds", paramLabel = "N", description = "of each kind; default ${DEFAULT-VALUE}")
    private int rounds = 5;

    @Option(names = "--round", paramLabel = "MS", description = "length of a round; default ${DEFAULT-VALUE}")
    private int round = 4_000;

    private final Counts counts = new Counts();
    private long slowKeys = 1L << 40;

    Crowd() {}

    /**
     * Runs the program.
     *
     * @param arguments options; see {@code --help}
     */
    public static void main(String[] arguments) {
        Program.main(new Crowd(), arguments);
    }

    @Override
    public Integer call() throws Exception {
        if (spec == null) {
            throw new IllegalStateException("picocli gives the spec before it calls");
        }
        database.check(store, spec);
        Print print = new Print(spec.commandLine().getOut());
        print.line(
                "%s on %s, pool of %,d: %,d copies of a key whose action takes %,d ms; another key every %,d ms",
                store, database.database, pool, duplicates, takes, every);
        Histogram without = Traffic.histogram();
        Histogram with = Traffic.histogram();
        try (RunningDatabase running = database.open()) {
            String run = DatabaseOptions.newRun();
            ServiceSettings settings = new ServiceSettings(
                    store, database.database, running.url(), run, pool, Duration.ofSeconds(30), false);
            try (Service service = settings.open();
                    Traffic traffic = new Traffic(
                            number -> service.send(
                                    Keys.request(run, number, 0), new Effect(number, "" + number, Duration.ZERO)),
                            TimeUnit.MILLISECONDS.toNanos(every),
                            counts)) {
                // What is compiled and cached by then is no round's advantage.
                round(traffic, Traffic.histogram());
                crowded(service, run, traffic, Traffic.histogram());
                for (int i = 0; i < rounds; i++) {
                    Histogram calm = Traffic.histogram();
                    Histogram crowded = Traffic.histogram();
                    round(traffic, calm);
                    crowded(service, run, traffic, crowded);
                    print.line("  round %d without: %s", i + 1, Traffic.text(calm));
                    print.line("  round %d with:    %s", i + 1, Traffic.text(crowded));
                    without.add(calm);
                    with.add(crowded);
                }
            }
        }
        double ratio = (double) with.getValueAtPercentile(99) / Math.max(1, without.getValueAtPercentile(99));
        print.line("other keys without: %s", Traffic.text(without));
        print.line("other keys with:    %s", Traffic.text(with));
        print.line("the crowd was sent again after: %s", counts.text("again "));
        print.check(counts.sum("failure ") == 0, "no failures: " + counts.text("failure "));
        print.check(
                counts.get("crowd executed") == rounds + 1L,
                String.format("executions of %,d slow keys: %,d", rounds + 1, counts.get("crowd executed")));
        print.check(counts.get("crowd other reply") == 0, "one reply to all copies of a slow key");
        print.check(ratio <= WITHIN, String.format("99th percentile with the crowd is %.2f times that without", ratio));
        return print.verdict();
    }

    private void round(Traffic traffic, Histogram latencies) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(round);
        traffic.flow(() -> System.nanoTime() - end >= 0, latencies);
    }

    private void crowded(Service service, String run, Traffic traffic, Histogram latencies)
            throws InterruptedException {
        long key = slowKeys++;
        CountDownLatch start = new CountDownLatch(1);
        Set<String> replies = ConcurrentHashMap.newKeySet();
        List<Thread> crowd = new ArrayList<>();
        for (int i = 0; i < duplicates; i++) {
            int copy = i;
            Thread thread = new Thread(
                    () -> {
                        try {
                            start.await();
                            replies.add(untilAnswered(service, run, key, copy));
                        } catch (InterruptedException | RuntimeException e) {
                            counts.add("failure in the crowd " + e);
                        }
                    },
                    "copy-" + i);
            thread.start();
            crowd.add(thread);
        }
        start.countDown();
        round(traffic, latencies);
        for (Thread thread : crowd) {
            thread.join();
        }
        if (replies.size() != 1) {
            counts.add("crowd other reply");
        }
    }

    private String untilAnswered(Service service, String run, long key, int copy) throws InterruptedException {
        Effect slow = new Effect(key, "copy " + copy, Duration.ofMillis(takes));
        while (true) {
            try {
                // A key of one name: its number ends in no zero that would ask for two.
                Outcome<String> outcome = service.send(Keys.request(run, key * 10 + 1, 0), slow);
                if (outcome instanceof Executed) {
                    counts.add("crowd executed");
                }
                if (!(outcome instanceof InProgress)) {
                    return outcome.response();
                }
                counts.add("again InProgress");
            } catch (RetryableException e) {
                counts.add("again " + e.getClass().getSimpleName());
            }
            Thread.sleep(20);
        }
    }
}
