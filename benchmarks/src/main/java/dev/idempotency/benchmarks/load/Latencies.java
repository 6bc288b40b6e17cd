package dev.idempotency.benchmarks.load;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** What one worker, or all of them together, have seen. For one thread. */
final class Latencies {

    /** How a message was answered. */
    enum Answer {
        /** It was new. */
        FIRST,
        /** A repeat, and the window knew. */
        WINDOW_REPEAT,
        /** A repeat, and the store knew. */
        STORE_REPEAT,
        /** Refused, failed, or not even begun when the run was over. */
        NONE;

        static Answer of(Outcome<?> outcome) {
            if (outcome instanceof Executed) {
                return FIRST;
            }
            return outcome instanceof Replayed<?> replayed
                    ? (replayed.source() == Source.WINDOW ? WINDOW_REPEAT : STORE_REPEAT)
                    : NONE;
        }
    }

    private final Map<Answer, Histogram> histograms = new EnumMap<>(Answer.class);
    private long executed;
    private long mostWaiting;

    Latencies() {
        for (Answer answer : Answer.values()) {
            histograms.put(answer, new Histogram(3));
        }
    }

    void record(Answer answer, long nanos, boolean counts) {
        if (answer == Answer.FIRST) {
            executed++;
        }
        if (counts) {
            histogram(answer).recordValue(Math.max(0, nanos));
        }
    }

    /** Messages that had come and that no worker had taken. */
    void waiting(long messages) {
        mostWaiting = Math.max(mostWaiting, messages);
    }

    void add(Latencies others) {
        others.histograms.forEach((answer, histogram) -> histogram(answer).add(histogram));
        executed += others.executed;
        mostWaiting = Math.max(mostWaiting, others.mostWaiting);
    }

    Histogram histogram(Answer answer) {
        Histogram histogram = histograms.get(answer);
        if (histogram == null) {
            throw new IllegalStateException("no " + answer);
        }
        return histogram;
    }

    Histogram all() {
        Histogram all = new Histogram(3);
        histograms.values().forEach(all::add);
        return all;
    }

    /** How many were executed, in the warm-up too. */
    long executed() {
        return executed;
    }

    long mostWaiting() {
        return mostWaiting;
    }

    /** Count and percentiles in milliseconds, for a CSV. */
    static String columns(@Nullable Answer answer, Histogram histogram) {
        return String.format(
                Locale.ROOT,
                "%s,%d,%.3f,%.3f,%.3f,%.3f,%.3f",
                answer == null ? "ALL" : answer,
                histogram.getTotalCount(),
                millis(histogram, 50),
                millis(histogram, 90),
                millis(histogram, 99),
                millis(histogram, 99.9),
                millis(histogram, 100));
    }

    static double millis(Histogram histogram, double percentile) {
        return histogram.getTotalCount() == 0 ? 0 : histogram.getValueAtPercentile(percentile) / 1e6;
    }
}
