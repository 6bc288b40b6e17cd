package dev.idempotency.benchmarks.load;

import dev.idempotency.Outcome;
import dev.idempotency.benchmarks.load.Latencies.Answer;
import dev.idempotency.benchmarks.stores.Message;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Messages that come at their times, whether or not those before are answered.
 *
 * <ol>
 *   <li>No thread sends: which message has come is told by the clock, so that none is handed from thread to thread on a
 *       machine of few cores. A free worker takes the next number, and sleeps until that message's time.
 *   <li>A batch closes when it has all the messages that it may hold, or some milliseconds after its first one came. One worker
 *       at a time waits for it; it takes what has come by then.
 *   <li>Latency counts from the time at which a message was to come, so that waiting for a worker is in it, and so is what
 *       the system takes to wake one up.
 *   <li>Some time after the last message, workers take no more; what is left counts with the time that it had waited.
 * </ol>
 */
final class OpenLoop {

    private final Receiver receiver;
    private final Traffic traffic;
    private final Mode mode;
    private final long linger;
    private final long start;
    private final long stop;
    private final ReentrantLock taking = new ReentrantLock();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private long next;

    private OpenLoop(Receiver receiver, Traffic traffic, Mode mode, Duration linger, Duration patience) {
        this.receiver = receiver;
        this.traffic = traffic;
        this.mode = mode;
        this.linger = linger.toNanos();
        this.start = System.nanoTime() + 10_000_000;
        this.stop = start + traffic.due(traffic.total()) + patience.toNanos();
    }

    /**
     * What came of it.
     *
     * @param latencies of the messages that count
     * @param achieved messages answered a second, from the first that counts to the last answer
     * @param left messages that no worker had taken when the run was over
     * @param failure the last exception of a call
     */
    record Result(
            Latencies latencies,
            double achieved,
            long left,
            @Nullable Exception failure) {

        /** The 99th percentile of all messages, in milliseconds. */
        double p99() {
            return Latencies.millis(latencies.all(), 99);
        }
    }

    static Result run(Receiver receiver, Traffic traffic, Mode mode, Duration linger, Duration patience)
            throws InterruptedException, ExecutionException {
        return new OpenLoop(receiver, traffic, mode, linger, patience).run();
    }

    private Result run() throws InterruptedException, ExecutionException {
        ExecutorService workers = Executors.newFixedThreadPool(mode.workers);
        Latencies all = new Latencies();
        try {
            List<Future<Latencies>> seen = new ArrayList<>();
            for (int i = 0; i < mode.workers; i++) {
                seen.add(workers.submit(this::work));
            }
            for (Future<Latencies> latencies : seen) {
                all.add(latencies.get());
            }
        } finally {
            workers.shutdownNow();
        }
        double seconds = (System.nanoTime() - start - traffic.warmUp().toNanos()) / 1e9;
        long answered = all.all().getTotalCount() - all.histogram(Answer.NONE).getTotalCount();
        long left = traffic.total() - next;
        Histogram unanswered = all.histogram(Answer.NONE);
        for (long number = next; number < traffic.total(); number++) {
            unanswered.recordValue(stop - start - traffic.due(number));
        }
        return new Result(all, answered / seconds, left, failure.get());
    }

    private Latencies work() {
        Latencies latencies = new Latencies();
        while (true) {
            long[] numbers = take(latencies);
            if (numbers.length == 0) {
                return latencies;
            }
            sleepUntil(start + traffic.due(numbers[0]));
            answer(numbers, latencies);
        }
    }

    /** The numbers of the next messages; none if there are no more. */
    private long[] take(Latencies latencies) {
        taking.lock();
        try {
            long first = next;
            if (mode.most > 1 && first < traffic.total()) {
                long full = Math.min(first + mode.most, traffic.total()) - 1;
                sleepUntil(start + Math.min(traffic.due(first) + linger, traffic.due(full)));
            }
            long now = System.nanoTime();
            if (first >= traffic.total() || now - stop > 0) {
                return new long[0];
            }
            long come = Math.min(traffic.dueBy(Math.max(0, now - start)), traffic.total());
            next = Math.max(first + 1, Math.min(first + mode.most, come));
            if (traffic.counts(first)) {
                latencies.waiting(come - next);
            }
            return LongStream.range(first, next).toArray();
        } finally {
            taking.unlock();
        }
    }

    private void answer(long[] numbers, Latencies latencies) {
        List<? extends @Nullable Outcome<String>> outcomes = outcomes(numbers);
        long now = System.nanoTime();
        for (int i = 0; i < numbers.length; i++) {
            Outcome<String> outcome = outcomes.isEmpty() ? null : outcomes.get(i);
            latencies.record(
                    outcome == null ? Answer.NONE : Answer.of(outcome),
                    now - start - traffic.due(numbers[i]),
                    traffic.counts(numbers[i]));
        }
    }

    private List<Outcome<String>> outcomes(long[] numbers) {
        try {
            if (mode.most == 1) {
                return List.of(receiver.receive(traffic.message(numbers[0])));
            }
            List<Message> messages =
                    LongStream.of(numbers).mapToObj(traffic::message).toList();
            return receiver.receive(messages);
        } catch (SQLException | RuntimeException e) {
            failure.set(e);
            return List.of();
        }
    }

    private static void sleepUntil(long nanos) {
        long left = nanos - System.nanoTime();
        while (left > 0) {
            LockSupport.parkNanos(left);
            left = nanos - System.nanoTime();
        }
    }
}
