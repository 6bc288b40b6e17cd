package dev.idempotency.benchmarks.load;

import dev.idempotency.Outcome;
import dev.idempotency.benchmarks.Results;
import dev.idempotency.benchmarks.load.Latencies.Answer;
import dev.idempotency.benchmarks.stores.Message;
import dev.idempotency.benchmarks.stores.Target;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * What a first message and a repeat cost beside ever more rows: on the own table, by one thread, with no window. Adds to
 * {@code growth.csv}.
 *
 * <ol>
 *   <li>The table is filled up to the next number of rows; the IDs are random ones, or ones that grow with time. On PostgreSQL
 *       that is done without the unique key, which is then made as full as inserts one by one leave it: 70% for random
 *       IDs, 90% for ones that grow.
 *   <li>PostgreSQL then vacuums and writes a checkpoint, so that each size begins alike: the first change of a page after it goes
 *       to the log whole.
 *   <li>In each round new messages are received for some time, then repeats of any of those that are stored.
 * </ol>
 */
@Command(
        name = "load.Growth",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "What a first message and a repeat cost beside ever more rows.")
public final class Growth implements Callable<Integer> {

    /** Where results go. */
    public static final String FILE = "growth.csv";

    private static final String HEADER = "ids,rows,operation,round,per_second,p50_us,p99_us,table_bytes,index_bytes";

    @Option(names = "--rows", split = ",", description = "Rows, ascending (${DEFAULT-VALUE}).")
    private List<Integer> sizes = List.of(100_000, 1_000_000);

    @Option(names = "--rounds", description = "Rounds (${DEFAULT-VALUE}).")
    private int rounds = 5;

    @Option(names = "--seconds", description = "Seconds for each operation in a round (${DEFAULT-VALUE}).")
    private double seconds = 2;

    @Option(names = "--target", description = "The database (${DEFAULT-VALUE}).")
    private Target target = Target.POSTGRESQL;

    private Growth() {}

    /**
     * Runs it.
     *
     * @param arguments see {@code --help}
     */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs it, and returns how it went: 0 is well. */
    static int run(String... arguments) {
        return new CommandLine(new Growth()).execute(arguments);
    }

    @Override
    public Integer call() throws IOException, SQLException {
        try (Target.Running database = target.start()) {
            for (Ids ids : Ids.values()) {
                try (Receiver receiver =
                        new Receiver(target, database, true, Receiver.Kind.NONE, Duration.ofSeconds(1))) {
                    grow(receiver, ids);
                }
            }
        }
        return 0;
    }

    private void grow(Receiver receiver, Ids ids) throws IOException, SQLException {
        long stored = 0;
        for (int rows : sizes) {
            System.out.println(ids + ": filling up to " + rows + " rows");
            long start = System.nanoTime();
            receiver.fill(stored, rows, number -> message(ids, number), ids.fillFactor);
            stored = Math.max(stored, rows);
            receiver.settle();
            System.out.printf(Locale.ROOT, "took %.0f s%n", (System.nanoTime() - start) / 1e9);
            // Round 0 warms up, and is not written down.
            for (int round = 0; round <= rounds; round++) {
                Histogram firsts = new Histogram(3);
                long end = System.nanoTime() + (long) (seconds * 1e9);
                while (System.nanoTime() - end < 0) {
                    receive(receiver, message(ids, stored++), Answer.FIRST, firsts);
                }
                Histogram repeats = new Histogram(3);
                end = System.nanoTime() + (long) (seconds * 1e9);
                while (System.nanoTime() - end < 0) {
                    long any = ThreadLocalRandom.current().nextLong(stored);
                    receive(receiver, message(ids, any), Answer.STORE_REPEAT, repeats);
                }
                if (round > 0) {
                    write(receiver, ids, rows, "first", round, firsts);
                    write(receiver, ids, rows, "repeat", round, repeats);
                }
            }
        }
    }

    private static Message message(Ids ids, long number) {
        return new Message("user-1234", ids.id(number).toString());
    }

    private static void receive(Receiver receiver, Message message, Answer expected, Histogram histogram)
            throws SQLException {
        long start = System.nanoTime();
        Outcome<String> outcome = receiver.receive(message);
        histogram.recordValue(System.nanoTime() - start);
        if (Answer.of(outcome) != expected) {
            throw new IllegalStateException("expected " + expected + ", and got " + outcome);
        }
    }

    private void write(Receiver receiver, Ids ids, int rows, String operation, int round, Histogram histogram)
            throws IOException, SQLException {
        Results.add(
                FILE,
                HEADER,
                String.format(
                        Locale.ROOT,
                        "%s,%d,%s,%d,%.0f,%.1f,%.1f,%d,%d",
                        ids,
                        rows,
                        operation,
                        round,
                        histogram.getTotalCount() / seconds,
                        histogram.getValueAtPercentile(50) / 1e3,
                        histogram.getValueAtPercentile(99) / 1e3,
                        receiver.bytes(false),
                        receiver.bytes(true)));
    }
}
