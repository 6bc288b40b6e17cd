package dev.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The part about windows: speed, memory, pauses. */
final class Windows {

    /** The bytes that an ID may cost in a compact window, by how many it holds. */
    private static final Map<Integer, Integer> BYTES_AN_ID =
            new TreeMap<>(Map.of(4_448, 200, 41_700, 100, 444_800, 66, 4_170_000, 63));

    /** What is to take no longer than with Caffeine. */
    private static final List<String> TO_REACH = List.of("checkAndPublish", "hit");

    /** What no window takes part in. */
    private static final String KEY = "key";

    private static final double REPEATS_A_SECOND = 5_000_000;
    private static final double BYTES_A_REPEAT = 100;

    private final Path folder;
    private final Document document;
    private final Charts charts;

    Windows(Path folder, Document document, Charts charts) {
        this.folder = folder;
        this.document = document;
        this.charts = charts;
    }

    void write() throws IOException {
        memory();
        speed();
        pauses();
    }

    private void memory() throws IOException {
        document.title("Windows: memory");
        List<Row> rows = Row.all(folder.resolve("window-memory.csv"));
        BYTES_AN_ID.forEach((ids, most) -> {
            double bytes = rows.stream()
                    .filter(row -> row.is("window", "COMPACT_WINDOW") && row.is("ids", ids))
                    .mapToDouble(row -> row.number("bytes_per_id"))
                    .findFirst()
                    .orElse(Double.NaN);
            document.figure(
                    "bytes an ID, " + Document.number(ids, 0) + " IDs, compact window",
                    "≤ " + most,
                    Document.number(bytes, 1),
                    Document.atMost(bytes, most));
        });
        if (rows.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "Bytes an ID: the heap after a collection with full windows less the heap without them. Of the small sizes many"
                        + " windows are filled side by side, 444,800 IDs or more together, since a heap wanders by up to 1 MB by itself,"
                        + " which would be more than one small window takes. JOL walks one small window instead, and counts what it"
                        + " reaches: exact, but things that all windows share, such as an executor's threads, are counted as if each"
                        + " window had its own. Beside it what an entry is about (sender, ID, response), and what an ID is on paper.");
        document.table(
                List.of(
                        "window",
                        "IDs",
                        "windows",
                        "bytes an ID",
                        "by JOL",
                        "payload",
                        "on paper",
                        "one window, MB",
                        "to reach",
                        "reached"),
                rows.stream().map(Windows::memory).toList());
        charts.memory(rows).ifPresent(document::text);
    }

    private static List<String> memory(Row row) {
        double ids = row.number("ids");
        Integer most = row.is("window", "COMPACT_WINDOW") ? BYTES_AN_ID.get((int) ids) : null;
        return List.of(
                row.text("window"),
                Document.number(ids, 0),
                row.text("windows"),
                row.text("bytes_per_id"),
                row.text("jol_bytes_per_id"),
                row.text("payload_bytes"),
                row.text("paper_bytes"),
                Document.number(row.number("heap_bytes") / 1e6, 1),
                most == null ? "" : "≤ " + most,
                most == null ? "" : Document.atMost(row.number("bytes_per_id"), most));
    }

    private void speed() throws IOException {
        document.title("Windows: speed");
        List<Speed> speeds = Stream.concat(
                        Speed.all(folder.resolve("window-speed-1.json")).stream(),
                        Speed.all(folder.resolve("window-speed-2.json")).stream())
                .toList();
        for (String operation : TO_REACH) {
            for (int threads = 1; threads <= 2; threads++) {
                notSlower(speeds, operation, threads);
            }
        }
        repeats(speeds);
        if (speeds.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "Nanoseconds an operation, in the iterations of JMH, and bytes that it allocates, in a full window. Each"
                        + " operation makes its key's texts anew; `key` tells what that takes. The ratio is the time by that of Caffeine"
                        + " in the same round, in which the two are measured one after the other: below 1 is faster.");
        List<List<String>> rows = new ArrayList<>();
        for (Speed speed : speeds) {
            Spread ratio = ratio(speeds, speed);
            boolean toReach = speed.kind().equals("COMPACT") && TO_REACH.contains(speed.operation());
            rows.add(List.of(
                    speed.operation(),
                    speed.kind(),
                    speed.ids() == 0 ? "" : Document.number(speed.ids(), 0),
                    Integer.toString(speed.threads()),
                    speed.spread().text(0),
                    Document.number(speed.bytes(), 0),
                    ratio.isThere() ? ratio.text(2) : "",
                    toReach ? "≤ 1" : "",
                    toReach ? Document.atMost(ratio.median(), 1) : ""));
        }
        document.table(
                List.of(
                        "operation",
                        "window",
                        "IDs",
                        "threads",
                        "ns",
                        "bytes",
                        "time by Caffeine's",
                        "to reach",
                        "reached"),
                rows);
    }

    private static Spread ratio(List<Speed> speeds, Speed speed) {
        if (speed.operation().equals(KEY) || speed.kind().equals("CAFFEINE")) {
            return Spread.of(List.of());
        }
        return speeds.stream()
                .filter(other -> other.kind().equals("CAFFEINE")
                        && other.operation().equals(speed.operation())
                        && other.ids() == speed.ids()
                        && other.threads() == speed.threads())
                .map(caffeine -> speed.by(caffeine))
                .findFirst()
                .orElse(Spread.of(List.of()));
    }

    /** The slowest of the sizes is told. */
    private void notSlower(List<Speed> speeds, String operation, int threads) {
        double slowest = speeds.stream()
                .filter(speed -> speed.kind().equals("COMPACT")
                        && speed.operation().equals(operation)
                        && speed.threads() == threads)
                .mapToDouble(speed -> ratio(speeds, speed).median())
                .max()
                .orElse(Double.NaN);
        document.figure(
                "window: " + operation + ", " + threads + (threads == 1 ? " thread" : " threads")
                        + ", time by Caffeine's, the worst size",
                "≤ 1",
                Document.number(slowest, 2),
                Document.atMost(slowest, 1));
    }

    private void repeats(List<Speed> speeds) {
        double key = Spread.of(speeds.stream()
                        .filter(speed -> speed.operation().equals(KEY) && speed.threads() == 1)
                        .map(Speed::bytes)
                        .toList())
                .median();
        for (String kind : List.of("COMPACT", "CAFFEINE")) {
            List<Speed> repeats = speeds.stream()
                    .filter(speed ->
                            speed.operation().equals("repeat") && speed.kind().equals(kind) && speed.threads() == 1)
                    .toList();
            double slowest = repeats.stream()
                    .mapToDouble(speed -> speed.spread().median())
                    .max()
                    .orElse(Double.NaN);
            double bytes = repeats.stream().mapToDouble(Speed::bytes).max().orElse(Double.NaN) - key;
            document.figure(
                    "repeat",
                    "repeat in the window, " + kind + ", 1 thread, a second, its key made anew",
                    "≥ 5,000,000",
                    Document.number(1e9 / slowest, 0),
                    Document.atLeast(1e9 / slowest, REPEATS_A_SECOND));
            document.figure(
                    "repeat",
                    "repeat in the window, " + kind + ", bytes allocated, without those of its key",
                    "≤ 100",
                    Document.number(bytes, 0),
                    Document.atMost(bytes, BYTES_A_REPEAT));
        }
    }

    private void pauses() throws IOException {
        document.title("Windows: pauses");
        List<Row> rows = Row.all(folder.resolve("window-pauses.csv"));
        double compact = longest(rows, "COMPACT");
        double caffeine = longest(rows, "CAFFEINE");
        document.figure(
                "longest pause of the collector, compact window by Caffeine's",
                "≤ 0.25",
                Document.number(compact / caffeine, 2),
                Document.atMost(compact / caffeine, 0.25));
        if (rows.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "While a full window turns over once, as fast as it goes: what the collector logs, what a thread sees that"
                        + " wants to wake up every millisecond, and the longest look and publication.");
        document.table(
                List.of(
                        "window",
                        "IDs",
                        "pauses",
                        "longest, ms",
                        "total, ms",
                        "hiccup, longest, ms",
                        "hiccup, 99%, ms",
                        "longest call, ms",
                        "seconds"),
                rows.stream()
                        .map(row -> Stream.of(
                                        "window",
                                        "ids",
                                        "gc_pauses",
                                        "gc_longest_ms",
                                        "gc_total_ms",
                                        "hiccup_longest_ms",
                                        "hiccup_p99_ms",
                                        "call_longest_ms",
                                        "seconds")
                                .map(row::text)
                                .toList())
                        .toList());
    }

    private static double longest(List<Row> rows, String window) {
        return rows.stream()
                .filter(row -> row.is("window", window))
                .mapToDouble(row -> row.number("gc_longest_ms"))
                .findFirst()
                .orElse(Double.NaN);
    }
}
