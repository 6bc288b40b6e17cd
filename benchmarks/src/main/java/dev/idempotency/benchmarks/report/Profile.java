package dev.idempotency.benchmarks.report;

import dev.idempotency.benchmarks.Results;
import dev.idempotency.benchmarks.stores.RedisBenchmark;
import dev.idempotency.benchmarks.stores.RedisSpeed;
import dev.idempotency.benchmarks.stores.StoreBenchmark;
import dev.idempotency.benchmarks.stores.StoreSpeed;
import dev.idempotency.benchmarks.window.WindowBenchmark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Where the time and the bytes of one way go: runs it by one thread with Java Flight Recorder on, and writes
 * {@code profile-<way>.md}. Ways of databases run on PostgreSQL that flushes nothing, those of windows in a compact window of
 * 444,800 IDs.
 *
 * <p>Arguments: the way, which is the name of a method of {@link StoreBenchmark}, {@link RedisBenchmark} or
 * {@link WindowBenchmark}; and seconds, 6 by default.
 */
public final class Profile {

    private static final int FRAMES = 15;
    private static final int SITES = 10;
    private static final String LIBRARY = "dev.idempotency.";
    private static final String BENCHMARKS = LIBRARY + "benchmarks.";

    private final String way;
    private final Map<String, Long> owners = new HashMap<>();
    private final Map<String, Long> leaves = new HashMap<>();
    private final Map<String, Long> natives = new HashMap<>();
    private final Map<String, Long> sites = new HashMap<>();

    private Profile(String way) {
        this.way = way;
    }

    /** The file of a way's profile. */
    static String file(String way) {
        return "profile-" + way + ".md";
    }

    /**
     * Runs it.
     *
     * @param arguments as told above
     * @throws Exception if the way can't be run or results can't be written
     */
    public static void main(String[] arguments) throws Exception {
        String way = arguments[0];
        String seconds = arguments.length > 1 ? arguments[1] : "6";
        Path folder = Results.folder();
        // What the way measures while it is watched is no result.
        Path aside = Files.createTempDirectory("profile");
        System.setProperty(Results.FOLDER, aside.toString());
        Profile profile = new Profile(way);
        Path file = aside.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(1));
            recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(10));
            recording.enable("jdk.ObjectAllocationSample").with("throttle", "500/s");
            recording.start();
            run(way, seconds);
            recording.stop();
            recording.dump(file);
            profile.read(file);
        } finally {
            System.setProperty(Results.FOLDER, folder.toString());
            try (Stream<Path> left = Files.list(aside)) {
                for (Path path : left.toList()) {
                    Files.delete(path);
                }
            }
            Files.delete(aside);
        }
        Results.write(file(way), profile.lines());
    }

    private static void run(String way, String seconds) throws Exception {
        if (has(StoreBenchmark.class, way)) {
            StoreSpeed.main(new String[] {"POSTGRESQL_FAST", "1", "1", seconds, way});
        } else if (has(RedisBenchmark.class, way)) {
            RedisSpeed.main(new String[] {"1", "1", seconds, way});
        } else if (has(WindowBenchmark.class, way)) {
            window(way, seconds);
        } else {
            throw new IllegalArgumentException("no way of this name: " + way);
        }
    }

    private static boolean has(Class<?> benchmark, String way) {
        return Stream.of(benchmark.getMethods())
                .anyMatch(method -> method.getName().equals(way));
    }

    private static void window(String way, String seconds) throws RunnerException {
        TimeValue time = TimeValue.milliseconds((long) (Double.parseDouble(seconds) * 1000));
        new Runner(new OptionsBuilder()
                        .include(WindowBenchmark.class.getName() + "." + way + "$")
                        .param("kind", "COMPACT")
                        .param("rate", "13900")
                        .param("seconds", "32")
                        .forks(0)
                        .warmupIterations(1)
                        .warmupTime(time)
                        .measurementIterations(1)
                        .measurementTime(time)
                        .shouldFailOnError(true)
                        .build())
                .run();
    }

    private void read(Path file) throws IOException {
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                boolean allocation = event.getEventType().getName().endsWith("AllocationSample");
                RecordedThread thread = event.getThread(allocation ? "eventThread" : "sampledThread");
                RecordedStackTrace stack = event.getStackTrace();
                if (thread != null && stack != null && ours(thread.getJavaName()) && ours(stack)) {
                    List<RecordedFrame> frames = stack.getFrames();
                    if (allocation) {
                        RecordedClass made = event.getClass("objectClass");
                        add(sites, "`" + plain(made.getName()) + "` | " + caller(frames), event.getLong("weight"));
                    } else if (event.getEventType().getName().equals("jdk.NativeMethodSample")) {
                        add(natives, "`" + name(frames.get(0)) + "`", 1);
                    } else {
                        add(leaves, "`" + name(frames.get(0)) + "` | " + caller(frames), 1);
                        add(owners, owner(frames), 1);
                    }
                }
            }
        }
    }

    /** By the names that JMH gives. */
    private boolean ours(@Nullable String thread) {
        return thread != null && thread.contains("." + way + "-jmh-worker");
    }

    /** Filling a window is no part of it. */
    private boolean ours(RecordedStackTrace stack) {
        return stack.isTruncated()
                || stack.getFrames().stream()
                        .anyMatch(frame -> frame.getMethod().getName().equals(way));
    }

    private static void add(Map<String, Long> counts, String name, long count) {
        counts.merge(name, count, Long::sum);
    }

    /** The library's method that is nearest, or the benchmark's if there is none. */
    private static String caller(List<RecordedFrame> frames) {
        Predicate<RecordedFrame> library = frame -> type(frame).startsWith(LIBRARY);
        return frames.stream()
                .filter(library.and(frame -> !type(frame).startsWith(BENCHMARKS)))
                .findFirst()
                .or(() -> frames.stream().filter(library).findFirst())
                .map(frame -> "`" + name(frame) + "`")
                .orElse("");
    }

    /** Whose code it is: the first package on the stack that is not the JDK's. */
    private static String owner(List<RecordedFrame> frames) {
        return frames.stream()
                .map(Profile::type)
                .filter(type -> !type.matches("(java|javax|jdk|sun|com\\.sun)\\..*"))
                .findFirst()
                .map(type -> String.join(
                        ".",
                        Stream.of(type.split("\\.", -1))
                                .limit(type.startsWith(BENCHMARKS) ? 3 : 2)
                                .toList()))
                .orElse("the JDK");
    }

    private static String type(RecordedFrame frame) {
        return frame.getMethod().getType().getName();
    }

    private static String name(RecordedFrame frame) {
        String type = plain(type(frame));
        return type.substring(type.lastIndexOf('.') + 1) + "."
                + frame.getMethod().getName();
    }

    /** Without the address and the number of a hidden class. */
    private static String plain(String type) {
        return type.replaceAll("[/+.]0x[0-9a-f]+.*", "").replaceAll("Lambda\\$\\d+", "Lambda");
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>(
                List.of(
                        "# Where the time and the bytes of `" + way + "` go",
                        "",
                        "One thread with Java Flight Recorder on: `-Dbenchmark=report.Profile -Darguments=" + way
                                + "`. How to run it, and what the ways are: `docs/benchmarks.md`.",
                        "",
                        sum(leaves) + " samples in Java code, " + sum(natives)
                                + " in native code, which is mostly waiting for the server; the two are taken at different rates."));
        table(lines, "In Java code, by whose it is", "share | package", owners, FRAMES);
        table(lines, "In Java code, by method", "share | method | nearest of the library", leaves, FRAMES);
        table(lines, "In native code", "share | method", natives, FRAMES);
        table(lines, "Bytes allocated", "share | class | nearest of the library", sites, SITES);
        return lines;
    }

    private static void table(List<String> lines, String title, String header, Map<String, Long> counts, int most) {
        lines.addAll(List.of(
                "",
                "## " + title,
                "",
                "| " + header + " |",
                "| --- " + header.replaceAll("[^|]", "").replace("|", "| --- ") + "|"));
        double all = sum(counts);
        counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(most)
                .map(count ->
                        String.format(Locale.ROOT, "| %.1f%% | %s |", 100 * count.getValue() / all, count.getKey()))
                .forEach(lines::add);
    }

    private static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }
}
