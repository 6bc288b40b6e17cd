package dev.idempotency.examples.runs;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** Named counts, which can travel as lines of text. Safe for use by any number of threads. */
final class Counts {

    private static final String LINE = "count ";

    private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();

    void add(String name) {
        add(name, 1);
    }

    void add(String name, long number) {
        counts.computeIfAbsent(name, n -> new LongAdder()).add(number);
    }

    long get(String name) {
        LongAdder count = counts.get(name);
        return count == null ? 0 : count.sum();
    }

    /** All whose name begins so. */
    long sum(String beginning) {
        return counts.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(beginning))
                .mapToLong(entry -> entry.getValue().sum())
                .sum();
    }

    List<String> lines() {
        return counts.entrySet().stream()
                .map(entry -> LINE + entry.getValue().sum() + " " + entry.getKey())
                .toList();
    }

    /** Adds what another process has counted; other lines are passed over. */
    void addLines(List<String> lines) {
        for (String line : lines) {
            if (line.startsWith(LINE)) {
                String[] parts = line.split(" ", 3);
                add(parts[2], Long.parseLong(parts[1]));
            }
        }
    }

    /** Such as "3 RetryableException, 1 InProgress" of all that begin so, without that beginning. */
    String text(String beginning) {
        List<String> parts = counts.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(beginning))
                .map(entry -> Print.plain(entry.getValue().sum()) + " "
                        + entry.getKey().substring(beginning.length()))
                .toList();
        return parts.isEmpty() ? "none" : String.join(", ", parts);
    }
}
