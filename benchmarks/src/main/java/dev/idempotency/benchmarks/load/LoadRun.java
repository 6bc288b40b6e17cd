package dev.idempotency.benchmarks.load;

import dev.idempotency.benchmarks.Results;
import dev.idempotency.benchmarks.load.Latencies.Answer;
import dev.idempotency.benchmarks.stores.Target;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends messages to a service at a rate, whatever becomes of them, and tells how long each took from the time at which it was
 * to come. Adds to {@code load.csv}, or with {@code --find-limit} to {@code load-limit.csv}.
 */
@Command(
        name = "load.LoadRun",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Messages at a rate: latency from the intended start.")
public final class LoadRun implements Callable<Integer> {

    /** Where the results of runs go. */
    public static final String FILE = "load.csv";

    /** Where the search for the rate that is too much goes. */
    public static final String LIMIT_FILE = "load-limit.csv";

    private static final String HEADER = "mode,window,rate,seconds,answer,count,p50_ms,p90_ms,p99_ms,p999_ms,max_ms,"
            + "achieved_per_second,most_waiting,left,rows_as_executed,failure";
    private static final String LIMIT_HEADER =
            "mode,window,rate,seconds,p99_ms,achieved_per_second,most_waiting,left,held";

    /** The service gives way where the 99th percentile is longer, or less than the share of what comes is answered. */
    private static final double LONGEST_P99 = 100; // ms

    private static final double SHARE = 0.98;

    @Option(names = "--mode", split = ",", description = "SINGLE, SINGLE_STATEMENT, BATCH (${DEFAULT-VALUE}).")
    private List<Mode> modes = List.of(Mode.BATCH);

    @Option(names = "--rate", split = ",", description = "Messages a second (${DEFAULT-VALUE}).")
    private List<Integer> rates = List.of(13_900);

    @Option(names = "--seconds", description = "For how long they are counted (${DEFAULT-VALUE}).")
    private double seconds = 60;

    @Option(names = "--warm-up", description = "For how many seconds they are not, before that (${DEFAULT-VALUE}).")
    private double warmUp = 10;

    @Option(names = "--window", description = "CAFFEINE, COMPACT, NONE (${DEFAULT-VALUE}).")
    private Receiver.Kind window = Receiver.Kind.CAFFEINE;

    @Option(names = "--window-seconds", description = "How long it remembers (${DEFAULT-VALUE}).")
    private double windowSeconds = 5;

    @Option(
            names = "--late",
            description = "The share of the repeats, one message of nine, that come after that (${DEFAULT-VALUE}).")
    private double late = 0.1;

    @Option(names = "--linger", description = "When a batch closes, in ms after its first message (${DEFAULT-VALUE}).")
    private int linger = 5;

    @Option(names = "--target", description = "The database (${DEFAULT-VALUE}).")
    private Target target = Target.POSTGRESQL;

    @Option(
            names = "--find-limit",
            description = "Doubles the rate until the service gives way, then halves the distance.")
    private boolean findLimit;

    @Option(names = "--at-most", description = "Where the search for the limit ends (${DEFAULT-VALUE}).")
    private int atMost = 200_000;

    private LoadRun() {}

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
        return new CommandLine(new LoadRun()).execute(arguments);
    }

    @Override
    public Integer call() throws IOException, SQLException, InterruptedException, ExecutionException {
        try (Target.Running database = target.start()) {
            for (Mode mode : modes) {
                for (int rate : rates) {
                    if (findLimit) {
                        findLimit(database, mode, rate);
                    } else {
                        run(database, mode, rate);
                    }
                }
            }
        }
        return 0;
    }

    private void run(Target.Running database, Mode mode, int rate)
            throws IOException, SQLException, InterruptedException, ExecutionException {
        System.out.printf(
                Locale.ROOT, "%s at %d a second: %s s of warm-up, %s s counted%n", mode, rate, warmUp, seconds);
        try (Receiver receiver = receiver(database, mode)) {
            OpenLoop.Result result = sent(receiver, mode, rate, Duration.ofSeconds(5));
            long rows = receiver.rows();
            boolean right = rows == result.latencies().executed();
            if (!right) {
                System.out.printf(
                        "%d rows, and %d executed%n", rows, result.latencies().executed());
            }
            String run = mode + "," + window + "," + rate + "," + text(seconds);
            String end = String.format(
                    Locale.ROOT,
                    "%.0f,%d,%d,%s,%s",
                    result.achieved(),
                    result.latencies().mostWaiting(),
                    result.left(),
                    right,
                    result.failure() == null ? "" : result.failure().toString().replaceAll("\\R", " "));
            for (Answer answer : Answer.values()) {
                Histogram histogram = result.latencies().histogram(answer);
                if (histogram.getTotalCount() > 0) {
                    Results.add(FILE, HEADER, run + "," + Latencies.columns(answer, histogram) + "," + end);
                }
            }
            Results.add(
                    FILE,
                    HEADER,
                    run + "," + Latencies.columns(null, result.latencies().all()) + "," + end);
        }
    }

    private void findLimit(Target.Running database, Mode mode, int from)
            throws IOException, SQLException, InterruptedException, ExecutionException {
        int held = 0;
        int rate = from;
        int gaveWay = Integer.MAX_VALUE;
        while (held < atMost && (held == 0 ? gaveWay > 100 : gaveWay > held * 1.1)) {
            if (holds(database, mode, rate)) {
                held = rate;
                rate = gaveWay == Integer.MAX_VALUE ? Math.min(2 * held, atMost) : (held + gaveWay) / 2;
            } else {
                gaveWay = rate;
                rate = (held + gaveWay) / 2;
            }
        }
        System.out.println(mode + " holds " + held + " a second, and "
                + (gaveWay == Integer.MAX_VALUE ? "more was not tried" : "gives way at " + gaveWay));
    }

    private boolean holds(Target.Running database, Mode mode, int rate)
            throws IOException, SQLException, InterruptedException, ExecutionException {
        try (Receiver receiver = receiver(database, mode)) {
            OpenLoop.Result result = sent(receiver, mode, rate, Duration.ofSeconds(1));
            // The last answer may take as long as any.
            double longest = seconds + LONGEST_P99 / 1e3;
            boolean held = result.p99() <= LONGEST_P99
                    && result.left() == 0
                    && result.failure() == null
                    && result.achieved() >= SHARE * rate * seconds / longest;
            Results.add(
                    LIMIT_FILE,
                    LIMIT_HEADER,
                    String.format(
                            Locale.ROOT,
                            "%s,%s,%d,%s,%.3f,%.0f,%d,%d,%s",
                            mode,
                            window,
                            rate,
                            text(seconds),
                            result.p99(),
                            result.achieved(),
                            result.latencies().mostWaiting(),
                            result.left(),
                            held));
            return held;
        }
    }

    private Receiver receiver(Target.Running database, Mode mode) throws SQLException {
        return new Receiver(target, database, mode == Mode.SINGLE_STATEMENT, window, duration(windowSeconds));
    }

    private OpenLoop.Result sent(Receiver receiver, Mode mode, int rate, Duration patience)
            throws SQLException, InterruptedException, ExecutionException {
        receiver.settle();
        Traffic traffic = new Traffic(rate, duration(warmUp), duration(seconds), duration(windowSeconds), late);
        return OpenLoop.run(receiver, traffic, mode, Duration.ofMillis(linger), patience);
    }

    private static Duration duration(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    private static String text(double seconds) {
        return seconds == Math.rint(seconds) ? Long.toString((long) seconds) : Double.toString(seconds);
    }
}
