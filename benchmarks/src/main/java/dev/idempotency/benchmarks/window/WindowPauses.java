package dev.idempotency.benchmarks.window;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Window;
import dev.idempotency.benchmarks.Results;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * Pauses while a full window turns over once, as fast as it goes, each window in a JVM of its own with the same heap and
 * collector: those that the collector logs, and those that a second thread sees that wants to wake up every millisecond
 * (as jHiccup does; on a busy machine it sees the machine's as well). Writes {@code window-pauses.csv}.
 *
 * <p>{@code mvn -q -B compile exec:exec -pl benchmarks -am -Dbenchmark=window.WindowPauses}
 */
public final class WindowPauses {

    private static final String HEADER =
            "window,ids,gc_pauses,gc_longest_ms,gc_total_ms,hiccup_longest_ms,hiccup_p99_ms,call_longest_ms,seconds";

    private static final Pattern PAUSE = Pattern.compile("Pause .* ([0-9.]+)ms$");
    private static final String TURNING = "turning";

    private WindowPauses() {}

    /**
     * Runs both windows at the largest size, or one in this JVM.
     *
     * @param arguments none; or a kind, a rate and a duration in seconds
     * @throws IOException if a JVM can't be started or results can't be written
     * @throws InterruptedException if somebody interrupts
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 3) {
            Load load = new Load(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
            System.out.println(turned(Kind.valueOf(arguments[0]), load));
            return;
        }
        Load largest = Load.ALL[Load.ALL.length - 1];
        List<String> lines = new ArrayList<>(List.of(HEADER));
        for (Kind kind : List.of(Kind.COMPACT, Kind.CAFFEINE)) {
            lines.add(forked(kind, largest));
            System.out.println(lines.get(lines.size() - 1));
        }
        Results.write("window-pauses.csv", lines);
    }

    private static String forked(Kind kind, Load load) throws IOException, InterruptedException {
        Path log = Files.createTempFile("gc", ".log");
        try {
            List<String> output = Jvm.run(
                    List.of("-Xms3g", "-Xmx3g", "-XX:+UseG1GC", "-Xlog:gc:file=" + log + ":uptime"),
                    WindowPauses.class,
                    kind.name(),
                    Integer.toString(load.rate()),
                    Integer.toString(load.seconds()));
            String[] result = output.get(output.size() - 1).split(",", -1);
            double from = Double.parseDouble(result[result.length - 1]);
            int pauses = 0;
            double longest = 0;
            double total = 0;
            for (String line : Files.readAllLines(log, StandardCharsets.UTF_8)) {
                Matcher pause = PAUSE.matcher(line);
                double at =
                        Double.parseDouble(line.substring(1, line.indexOf('s')).replace(',', '.'));
                if (at >= from && pause.find()) {
                    double ms = Double.parseDouble(pause.group(1));
                    pauses++;
                    total += ms;
                    longest = Math.max(longest, ms);
                }
            }
            return String.format(
                    Locale.ROOT,
                    "%s,%s,%d,%.2f,%.2f,%s,%s,%s,%s",
                    kind,
                    load.ids(),
                    pauses,
                    longest,
                    total,
                    result[1],
                    result[2],
                    result[3],
                    result[4]);
        } finally {
            Files.delete(log);
        }
    }

    /** Turns a window over: hiccups, the longest call, seconds, and when it began. */
    static String turned(Kind kind, Load load) throws InterruptedException {
        AtomicLong nanos = new AtomicLong();
        Window<byte[]> window = kind.spec(load.lasting(), nanos::get).create();
        for (long number = 0; number < load.ids(); number++) {
            publish(window, number, nanos, load);
        }
        AtomicBoolean done = new AtomicBoolean();
        Histogram hiccups = new Histogram(3);
        Thread sleeper = new Thread(() -> watch(done, hiccups), TURNING);
        double uptime =
                java.lang.management.ManagementFactory.getRuntimeMXBean().getUptime() / 1e3;
        sleeper.start();
        long start = System.nanoTime();
        long longest = 0;
        for (long number = load.ids(); number < 2L * load.ids(); number++) {
            long before = System.nanoTime();
            publish(window, number, nanos, load);
            longest = Math.max(longest, System.nanoTime() - before);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        done.set(true);
        sleeper.join();
        return String.format(
                Locale.ROOT,
                "%s,%.2f,%.2f,%.2f,%.1f,%.3f",
                kind,
                hiccups.getMaxValue() / 1e6,
                hiccups.getValueAtPercentile(99) / 1e6,
                longest / 1e6,
                seconds,
                uptime);
    }

    private static void publish(Window<byte[]> window, long number, AtomicLong nanos, Load load) {
        IdempotencyKey key = Messages.key(number);
        if (window.get(key) == null) {
            window.put(key, Messages.original(number), nanos.get() + Long.MAX_VALUE / 2);
        }
        nanos.addAndGet(load.nanosBetween());
    }

    private static void watch(AtomicBoolean done, Histogram hiccups) {
        long step = 1_000_000;
        while (!done.get()) {
            long before = System.nanoTime();
            LockSupport.parkNanos(step);
            hiccups.recordValueWithExpectedInterval(Math.max(0, System.nanoTime() - before - step), step);
        }
    }
}
