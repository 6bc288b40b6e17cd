package dev.idempotency.examples.runs;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.RetryableException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Expired records are purged from a large table beside live traffic.
 *
 * <ol>
 *   <li>The table is filled; four records in five have expired.
 *   <li>Traffic flows alone for a while, then beside the purge: new keys, repeats of keys that count, and keys whose
 *       records have expired, which are executed again.
 *   <li>Printed are the purge's speed, its longest transaction, and the latency of the traffic, from when each call should
 *       have started, without the purge and with it. In the end nothing expired is left and all that counts is there, and
 *       no statement has failed, nor been told to try again.
 * </ol>
 */
@Command(
        name = "purge",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        description = "Millions of records, most of them expired, are purged beside live traffic.")
public final class PurgeRun implements Callable<Integer> {

    private static final int KINDS_OF_CALLS = 4;
    private static final int POOL = 16;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Option(names = "--records", paramLabel = "N", description = "four in five expired; default 5,000,000")
    private int records = 5_000_000;

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "rows of a purge at most, 1 to 10,000; default ${DEFAULT-VALUE}")
    private int batch = 1_000;

    @Option(names = "--rate", paramLabel = "N", description = "calls a second; default ${DEFAULT-VALUE}")
    private int rate = 200;

    @Option(names = "--before", paramLabel = "MS", description = "traffic without the purge; default ${DEFAULT-VALUE}")
    private int before = 20_000;

    private final Counts counts = new Counts();

    PurgeRun() {}

    /**
     * Runs the program.
     *
     * @param arguments options; see {@code --help}
     */
    public static void main(String[] arguments) {
        Program.main(new PurgeRun(), arguments);
    }

    @Override
    public Integer call() throws Exception {
        if (spec == null) {
            throw new IllegalStateException("picocli gives the spec before it calls");
        }
        database.check(StoreKind.TRANSACTIONAL, spec);
        Print print = new Print(spec.commandLine().getOut());
        print.line(
                "transactional on %s: %,d records, batches of %,d, %,d calls a second",
                database.database, records, batch, rate);
        try (RunningDatabase running = database.open()) {
            ServiceSettings settings = new ServiceSettings(
                    StoreKind.TRANSACTIONAL,
                    database.database,
                    running.url(),
                    DatabaseOptions.newRun(),
                    POOL,
                    Duration.ofSeconds(30),
                    false);
            try (TransactionalService service = new TransactionalService(settings);
                    Traffic traffic = new Traffic(
                            number -> call(service, settings.run(), number),
                            TimeUnit.SECONDS.toNanos(1) / rate,
                            counts)) {
                PurgeFill fill = new PurgeFill(service.jdbi, database.database, records);
                long start = System.nanoTime();
                fill.fill();
                print.line("filled in %.0f s", seconds(start));
                run(service, traffic, fill, print);
            }
        }
        return print.verdict();
    }

    /** Of four calls, two are new, one repeats what counts, and one comes long after its record has expired. */
    private void call(Service service, String run, long number) {
        long old = 1 + number % records;
        boolean live = PurgeFill.isLive(old);
        Effect effect = new Effect(number, "new", Duration.ZERO);
        if (number % KINDS_OF_CALLS < 2) {
            service.send(Keys.request(run, number, 0), effect);
            counts.add("new keys");
            return;
        }
        if (number % KINDS_OF_CALLS == 2) {
            old += PurgeFill.LIVE_ONE_IN - old % PurgeFill.LIVE_ONE_IN;
            live = true;
        }
        if (old > records) {
            return;
        }
        Outcome<String> outcome = service.send(PurgeFill.request(old), effect);
        boolean right = live
                ? outcome instanceof Replayed && outcome.response().equals(PurgeFill.RESPONSE)
                : outcome.response().equals("new");
        counts.add(!right ? "failure wrong outcome" : live ? "repeats of what counts" : "taken over, expired");
    }

    private void run(TransactionalService service, Traffic traffic, PurgeFill fill, Print print) throws Exception {
        Histogram without = Traffic.histogram();
        Histogram with = Traffic.histogram();
        // What is compiled and cached by then is nobody's advantage.
        flowFor(before / 4, traffic, Traffic.histogram());
        flowFor(before, traffic, without);

        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        LongAdder removed = new LongAdder();
        Histogram transactions = Traffic.histogram();
        long start = System.nanoTime();
        Thread purge = new Thread(
                () -> {
                    try {
                        purgeAll(service, removed, transactions);
                    } catch (RuntimeException | Error e) {
                        failed.set(e);
                    } finally {
                        done.set(true);
                    }
                },
                "purge");
        purge.start();
        traffic.flow(done::get, with);
        purge.join();
        double seconds = seconds(start);

        print.line(
                "purged %,d of %,d in %.1f s, %,.0f a second",
                removed.sum(), fill.expired(), seconds, removed.sum() / seconds);
        print.line("its transactions:     %s", Traffic.text(transactions));
        print.line("traffic without:      %s", Traffic.text(without));
        print.line("traffic with:         %s", Traffic.text(with));
        print.line(
                "calls: %,d new, %,d repeats, %,d of expired keys",
                counts.get("new keys"), counts.get("repeats of what counts"), counts.get("taken over, expired"));
        print.check(failed.get() == null, "the purge failed: " + failed.get());
        print.check(counts.get("purge in the way") == 0, "purges told to try again: " + counts.get("purge in the way"));
        print.check(
                counts.sum("failure ") == 0,
                "failures of the traffic, deadlocks among them: " + counts.text("failure "));
        print.check(fill.expiredLeft() == 0, String.format("expired records left: %,d", fill.expiredLeft()));
        print.check(
                fill.liveLeft() == fill.live(),
                String.format("records that count: %,d of %,d", fill.liveLeft(), fill.live()));
    }

    private void purgeAll(TransactionalService service, LongAdder removed, Histogram transactions) {
        int last = batch;
        while (last == batch) {
            long start = System.nanoTime();
            try {
                last = service.purge(batch);
                removed.add(last);
            } catch (RetryableException e) {
                counts.add("purge in the way");
            }
            transactions.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
        }
    }

    private static void flowFor(int millis, Traffic traffic, Histogram latencies) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        traffic.flow(() -> System.nanoTime() - end >= 0, latencies);
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
