package dev.idempotency.benchmarks.stores;

import dev.idempotency.benchmarks.Results;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs {@link StoreBenchmark} in rounds, each of which measures each way once, so that ways are compared within a round;
 * in one JVM, since the server is what takes the time. Appends to {@code stores.csv}: database, threads, way, round, messages
 * a second, and the bytes that this JVM allocates for a message: those of H2 itself, too, which runs in it.
 *
 * <p>Arguments: databases, such as {@code POSTGRESQL,H2}; threads, such as {@code 1,8}; rounds; seconds for each way; and a
 * regular expression for ways. Each may be left out from the right.
 */
public final class StoreSpeed {

    /** Where its results go. */
    public static final String FILE = "stores.csv";

    static final String HEADER = "database,threads,way,round,messages_per_second,bytes_per_message";

    /**
     * What is compared stands side by side, and every other round goes from the end to the start: the table grows through a
     * round, and later ways would always meet more rows.
     */
    static final List<String> WAYS = List.of(
            "byHandTransaction",
            "ownTable",
            "byHandHandle",
            "ownTableSingleStatement",
            "byHandAutocommit",
            "transactional",
            "byHandClaimFirst",
            "transactionalActionFirst",
            "ownTableRepeat",
            "ownTableSingleStatementRepeat",
            "byHandRepeat",
            "transactionalRepeat",
            "transactionalActionFirstRepeat",
            "ownTableBatch",
            "byHandBatch",
            "transactionalBatch",
            "byHandBatchWithKeys",
            "transactionalActionFirstBatch",
            "windowRepeat");

    private StoreSpeed() {}

    /**
     * Runs it.
     *
     * @param arguments as told above
     * @throws RunnerException if JMH can't run it
     * @throws IOException if results can't be written
     * @throws SQLException if the tables can't be made
     */
    public static void main(String[] arguments) throws RunnerException, IOException, SQLException {
        List<Target> targets = Arrays.stream(argument(arguments, 0, "POSTGRESQL_FAST,POSTGRESQL,MARIADB,H2")
                        .split(","))
                .map(Target::valueOf)
                .toList();
        List<Integer> threads = Arrays.stream(argument(arguments, 1, "1,8").split(","))
                .map(Integer::valueOf)
                .toList();
        int rounds = Integer.parseInt(argument(arguments, 2, "5"));
        double seconds = Double.parseDouble(argument(arguments, 3, "2"));
        for (Target target : targets) {
            try (Target.Running database = target.start()) {
                for (int count : threads) {
                    run(target, database, count, rounds, seconds, Pattern.compile(argument(arguments, 4, ".*")));
                }
            }
        }
    }

    private static void run(
            Target target, Target.Running database, int threads, int rounds, double seconds, Pattern ways)
            throws RunnerException, IOException, SQLException {
        // Round 0 warms up, and is not written down.
        for (int round = 0; round <= rounds; round++) {
            List<String> order = new ArrayList<>(WAYS);
            if (round % 2 == 0) {
                Collections.reverse(order);
            }
            try (Service service = new Service(target, database, threads)) {
                StoreBenchmark.current = service;
                for (String way : order) {
                    if (ways.matcher(way).matches()) {
                        String line = String.format(
                                Locale.ROOT,
                                "%s,%d,%s,%d,%s",
                                target,
                                threads,
                                way,
                                round,
                                measured(StoreBenchmark.class, way, threads, seconds));
                        if (round > 0) {
                            Results.add(FILE, HEADER, line);
                        } else {
                            System.out.println(line);
                        }
                    }
                }
            } finally {
                StoreBenchmark.current = null;
            }
        }
    }

    /** Messages a second, and bytes a message. */
    static String measured(Class<?> benchmark, String way, int threads, double seconds) throws RunnerException {
        RunResult result = new Runner(new OptionsBuilder()
                        .include(Pattern.quote(benchmark.getName() + "." + way) + "$")
                        .forks(0)
                        .threads(threads)
                        .warmupIterations(1)
                        .warmupTime(TimeValue.milliseconds((long) (seconds * 250)))
                        .measurementIterations(1)
                        .measurementTime(TimeValue.milliseconds((long) (seconds * 1000)))
                        .addProfiler(GCProfiler.class)
                        .verbosity(VerboseMode.SILENT)
                        .shouldFailOnError(true)
                        .build())
                .runSingle();
        Result<?> bytes = Objects.requireNonNull(result.getSecondaryResults().get("gc.alloc.rate.norm"));
        return String.format(Locale.ROOT, "%.0f,%.0f", result.getPrimaryResult().getScore(), bytes.getScore());
    }

    static String argument(String[] arguments, int index, String otherwise) {
        return index < arguments.length ? arguments[index] : otherwise;
    }
}
