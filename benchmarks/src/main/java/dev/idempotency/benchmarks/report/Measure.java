package dev.idempotency.benchmarks.report;

import dev.idempotency.benchmarks.Results;
import dev.idempotency.benchmarks.load.Growth;
import dev.idempotency.benchmarks.load.LoadRun;
import dev.idempotency.benchmarks.stores.RedisSpeed;
import dev.idempotency.benchmarks.stores.StoreSpeed;
import dev.idempotency.benchmarks.window.WindowMemory;
import dev.idempotency.benchmarks.window.WindowPauses;
import dev.idempotency.benchmarks.window.WindowSpeed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs all benchmarks, each in a JVM of its own, and makes the report. A program that fails is told, and the others run all
 * the same.
 *
 * <p>The argument is {@code short}, for some minutes and a first impression, or {@code full}, for the figures to quote, in three
 * quarters of an hour. The
 * results that a program left before are deleted before it runs.
 */
public final class Measure {

    private static final String PACKAGE = "dev.idempotency.benchmarks.";
    private static final String SERVERS = "idempotency.test.servers";

    private Measure() {}

    /**
     * A program to run.
     *
     * @param files what earlier runs have left
     */
    record Step(String program, List<String> files, List<String> arguments) {

        static Step of(Class<?> program, List<String> files, String... arguments) {
            return new Step(program.getName(), files, List.of(arguments));
        }
    }

    private static final List<String> SPEED_FILES = List.of("window-speed-1.json", "window-speed-2.json");

    /** What an earlier step has left is to stay. */
    private static final List<String> KEEP = List.of();

    private static final List<Step> SHORT = List.of(
            Step.of(
                    WindowSpeed.class,
                    SPEED_FILES,
                    "key|hit|checkAndPublish|repeat",
                    "COMPACT,CAFFEINE",
                    "13900",
                    "32",
                    "0.4",
                    "2"),
            Step.of(WindowMemory.class, List.of("window-memory.csv")),
            Step.of(WindowPauses.class, List.of("window-pauses.csv")),
            Step.of(StoreSpeed.class, List.of(StoreSpeed.FILE), "POSTGRESQL_FAST,POSTGRESQL", "1", "3", "0.3"),
            Step.of(RedisSpeed.class, KEEP, "1", "3", "0.5"),
            Step.of(
                    LoadRun.class,
                    List.of(LoadRun.FILE, LoadRun.LIMIT_FILE),
                    "--mode=SINGLE_STATEMENT",
                    "--rate=139",
                    "--warm-up=7",
                    "--seconds=8"),
            Step.of(LoadRun.class, KEEP, "--mode=BATCH", "--rate=13900", "--warm-up=7", "--seconds=20"),
            Step.of(Growth.class, List.of(Growth.FILE), "--rows=100000,1000000", "--rounds=2", "--seconds=1"));

    private static final List<Step> FULL = List.of(
            // Memory and pauses: some 4 minutes.
            Step.of(WindowMemory.class, List.of("window-memory.csv")),
            Step.of(WindowPauses.class, List.of("window-pauses.csv")),
            // Stores: some 11 minutes.
            Step.of(StoreSpeed.class, List.of(StoreSpeed.FILE), "POSTGRESQL_FAST,POSTGRESQL", "1,8", "5", "0.5"),
            Step.of(StoreSpeed.class, KEEP, "MARIADB,H2", "1,8", "3", "0.3"),
            Step.of(RedisSpeed.class, KEEP, "1,8", "5", "1"),
            // Load: some 7 minutes.
            Step.of(
                    LoadRun.class,
                    List.of(LoadRun.FILE),
                    "--mode=SINGLE_STATEMENT,BATCH",
                    "--rate=139",
                    "--warm-up=7",
                    "--seconds=60"),
            Step.of(LoadRun.class, KEEP, "--mode=BATCH", "--rate=13900", "--warm-up=7", "--seconds=60"),
            Step.of(
                    LoadRun.class,
                    KEEP,
                    "--mode=BATCH",
                    "--rate=13900",
                    "--window=COMPACT",
                    "--warm-up=7",
                    "--seconds=20"),
            // The last one is too much for single calls, and shows what that looks like.
            Step.of(LoadRun.class, KEEP, "--mode=SINGLE_STATEMENT", "--rate=1390,13900", "--warm-up=7", "--seconds=10"),
            Step.of(
                    LoadRun.class,
                    List.of(LoadRun.LIMIT_FILE),
                    "--mode=SINGLE,SINGLE_STATEMENT",
                    "--rate=4000",
                    "--warm-up=2",
                    "--seconds=5",
                    "--find-limit"),
            Step.of(LoadRun.class, KEEP, "--mode=BATCH", "--rate=20000", "--warm-up=2", "--seconds=5", "--find-limit"),
            // Growth: some 5 minutes.
            Step.of(Growth.class, List.of(Growth.FILE), "--rows=100000,1000000,10000000", "--rounds=3", "--seconds=1"),
            // Where the time goes in what is nearest to its figure, or misses it.
            profile("repeat"),
            profile("ownTableSingleStatement"),
            profile("transactional"),
            profile("transactionalBatch"),
            profile("redisFirst"),
            // Windows: some 13 minutes.
            Step.of(
                    WindowSpeed.class,
                    SPEED_FILES,
                    "key|miss|hit|publish|checkAndPublish|repeat",
                    "COMPACT,CAFFEINE",
                    "139,13900",
                    "32,300",
                    "0.4",
                    "2"));

    private static Step profile(String way) {
        return Step.of(Profile.class, List.of(Profile.file(way)), way);
    }

    /**
     * Runs them.
     *
     * @param arguments {@code short} or {@code full}
     * @throws IOException if results can't be written
     * @throws InterruptedException if somebody interrupts
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        String set = arguments.length == 1 ? arguments[0] : "";
        List<Step> steps = switch (set) {
            case "short" -> SHORT;
            case "full" -> FULL;
            default -> throw new IllegalArgumentException("say short (minutes) or full (three quarters of an hour)");
        };
        boolean well = run(
                steps,
                "mvn -q -B test-compile exec:exec -pl benchmarks -am -Dbenchmark=report.Measure -Darguments=" + set);
        System.exit(well ? 0 : 1);
    }

    static boolean run(List<Step> steps, String command) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Files.deleteIfExists(Results.folder().resolve(Results.NOTES));
        Machine.note(command);
        List<String> failed = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            for (String file : step.files()) {
                Files.deleteIfExists(Results.folder().resolve(file));
            }
            String name = (step.program().replace(PACKAGE, "") + " " + String.join(" ", step.arguments())).strip();
            System.out.printf("== %d of %d, after %s: %s%n", i + 1, steps.size(), since(start), name);
            if (ended(step) != 0) {
                System.out.println("== failed: " + name);
                failed.add(name);
            }
        }
        Results.note("took", since(start));
        if (!failed.isEmpty()) {
            Results.note("failed", String.join("; ", failed));
        }
        Report.main(new String[0]);
        System.out.println("== took " + since(start) + (failed.isEmpty() ? "" : "; failed: " + failed));
        return failed.isEmpty();
    }

    private static int ended(Step step) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-D" + Results.FOLDER + "=" + Results.folder(),
                "-D" + SERVERS + "=" + System.getProperty(SERVERS, ""),
                "-cp",
                System.getProperty("java.class.path"),
                step.program()));
        command.addAll(step.arguments());
        Process process = new ProcessBuilder(command).inheritIO().start();
        // Who stops this program stops the one that it waits for.
        Thread stopper = new Thread(process::destroy, "stopper");
        Runtime.getRuntime().addShutdownHook(stopper);
        int status = process.waitFor();
        Runtime.getRuntime().removeShutdownHook(stopper);
        return status;
    }

    private static String since(long start) {
        Duration time = Duration.ofNanos(System.nanoTime() - start);
        return String.format(Locale.ROOT, "%d:%02d min", time.toMinutes(), time.toSecondsPart());
    }
}
