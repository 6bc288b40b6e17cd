package dev.idempotency.examples.runs;

import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Calls that arrive at their times, whether or not earlier ones are answered. Latency counts from the time at which a call
 * should have started, so that a stall shows in every call that it held up.
 */
final class Traffic implements AutoCloseable {

    private static final int THREADS = 256;

    private final LongConsumer call;
    private final long everyNanos;
    private final Counts failures;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
        Thread thread = new Thread(task, "traffic");
        thread.setDaemon(true);
        return thread;
    });
    private long number;

    /**
     * Traffic that does not flow yet.
     *
     * @param call what is done, given its number
     * @param everyNanos how far calls are apart
     * @param failures where the types of exceptions are counted
     */
    Traffic(LongConsumer call, long everyNanos, Counts failures) {
        this.call = call;
        this.everyNanos = everyNanos;
        this.failures = failures;
    }

    /** Flows until it is told to end, then waits for the answers that are due; microseconds go into the histogram. */
    void flow(BooleanSupplier ends, Histogram latencies) throws InterruptedException {
        long start = System.nanoTime();
        long calls = 0;
        Phaser due = new Phaser(1);
        while (!ends.getAsBoolean()) {
            long intended = start + calls * everyNanos;
            for (long left = intended - System.nanoTime(); left > 0; left = intended - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            long mine = number++;
            calls++;
            due.register();
            threads.execute(() -> {
                try {
                    call.accept(mine);
                } catch (RuntimeException e) {
                    failures.add("failure " + e);
                } finally {
                    latencies.recordValue(Math.max(0, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - intended)));
                    due.arriveAndDeregister();
                }
            });
        }
        due.arriveAndAwaitAdvance();
    }

    static Histogram histogram() {
        return new ConcurrentHistogram(3);
    }

    /** Such as "n=400 p50 1.2 p95 2.4 p99 3.1 max 5.0 ms". */
    static String text(Histogram histogram) {
        return String.format(
                Locale.ROOT,
                "n=%,d  p50 %.2f  p95 %.2f  p99 %.2f  p99.9 %.2f  max %.2f ms",
                histogram.getTotalCount(),
                histogram.getValueAtPercentile(50) / 1e3,
                histogram.getValueAtPercentile(95) / 1e3,
                histogram.getValueAtPercentile(99) / 1e3,
                histogram.getValueAtPercentile(99.9) / 1e3,
                histogram.getMaxValue() / 1e3);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
