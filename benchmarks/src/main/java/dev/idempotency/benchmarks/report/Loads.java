package dev.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The part about load, and about what more rows cost. */
final class Loads {

    private static final double LONGEST_P99 = 50;
    private static final int RATE = 13_900;
    private static final int SECONDS = 60;

    private final Path folder;
    private final Document document;
    private final Charts charts;

    Loads(Path folder, Document document, Charts charts) {
        this.folder = folder;
        this.document = document;
        this.charts = charts;
    }

    void write() throws IOException {
        load();
        limits();
        growth();
    }

    private void load() throws IOException {
        List<Row> rows = Row.all(folder.resolve("load.csv"));
        figure(rows);
        document.title("Load: messages that come at a rate");
        if (rows.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "Milliseconds from the time at which a message was to come to its answer, on PostgreSQL 14 with fsync on, with"
                        + " client and server on this machine. One message of nine is a repeat; most of them come within the window's"
                        + " time. `SINGLE` and `SINGLE_STATEMENT`: 8 threads and connections; `BATCH`: 4 threads, up to 100 messages in a"
                        + " call. In a batch all have the time of their batch, so a repeat that the window knows waits for the others.");
        document.table(
                List.of(
                        "mode",
                        "window",
                        "rate",
                        "seconds",
                        "answer",
                        "messages",
                        "50%",
                        "90%",
                        "99%",
                        "99.9%",
                        "longest"),
                rows.stream()
                        .map(row -> texts(
                                row, "mode", "window", "rate", "seconds", "answer", "count", "p50_ms", "p90_ms",
                                "p99_ms", "p999_ms", "max_ms"))
                        .toList());
        document.text(
                "What became of each run: answered a second; the most messages that had come and that no thread had taken; those"
                        + " left when it was over; whether the table has a row for each message that was executed, and no more.");
        document.table(
                List.of(
                        "mode",
                        "window",
                        "rate",
                        "answered a second",
                        "most waiting",
                        "left",
                        "rows as executed",
                        "failure"),
                rows.stream()
                        .filter(row -> row.is("answer", "ALL"))
                        .map(row -> texts(
                                row,
                                "mode",
                                "window",
                                "rate",
                                "achieved_per_second",
                                "most_waiting",
                                "left",
                                "rows_as_executed",
                                "failure"))
                        .toList());
        charts.latencies(rows).ifPresent(document::text);
    }

    /** The longest run at that rate; of several, the worst. */
    private void figure(List<Row> rows) {
        List<Row> runs = rows.stream()
                .filter(row -> row.is("mode", "BATCH") && row.is("rate", RATE) && row.is("answer", "ALL"))
                .toList();
        double longest =
                runs.stream().mapToDouble(row -> row.number("seconds")).max().orElse(Double.NaN);
        Row worst = null;
        for (Row run : runs) {
            if (run.number("seconds") == longest && (worst == null || run.number("p99_ms") > worst.number("p99_ms"))) {
                worst = run;
            }
        }
        String reached = Document.NOT_MEASURED;
        String measured = Document.NOT_MEASURED;
        if (worst != null) {
            measured = worst.text("p99_ms") + " ms over " + worst.text("seconds") + " s, "
                    + worst.text("achieved_per_second") + " answered a second";
            boolean well = worst.number("left") == 0
                    && worst.is("rows_as_executed", true)
                    && worst.number("achieved_per_second") >= 0.98 * RATE;
            reached = !well
                    ? "**no**"
                    : longest < SECONDS ? "run too short" : Document.atMost(worst.number("p99_ms"), LONGEST_P99);
        }
        document.figure("13,900 a second in batches, fsync on, 60 s: 99th percentile", "< 50 ms", measured, reached);
    }

    private void limits() throws IOException {
        document.title("Load: where it gives way");
        List<Row> rows = Row.all(folder.resolve("load-limit.csv"));
        if (rows.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "Short runs at rates that double and then close in. One holds if its 99th percentile is at most 100 ms, nothing is"
                        + " left, and 98% of what comes is answered.");
        Map<String, double[]> bounds = new LinkedHashMap<>();
        for (Row row : rows) {
            double[] bound = bounds.computeIfAbsent(row.text("mode"), mode -> new double[] {0, Double.NaN});
            if (row.is("held", true)) {
                bound[0] = Math.max(bound[0], row.number("rate"));
            } else {
                bound[1] = Double.isNaN(bound[1]) ? row.number("rate") : Math.min(bound[1], row.number("rate"));
            }
        }
        document.table(
                List.of("mode", "holds, a second", "gives way at"),
                bounds.entrySet().stream()
                        .map(bound -> List.of(
                                bound.getKey(),
                                Document.number(bound.getValue()[0], 0),
                                Document.number(bound.getValue()[1], 0)))
                        .toList());
        document.table(
                List.of("mode", "rate", "seconds", "99%, ms", "answered a second", "most waiting", "left", "held"),
                rows.stream()
                        .map(row -> texts(
                                row,
                                "mode",
                                "rate",
                                "seconds",
                                "p99_ms",
                                "achieved_per_second",
                                "most_waiting",
                                "left",
                                "held"))
                        .toList());
    }

    private void growth() throws IOException {
        document.title("Growth: what more rows cost");
        List<Row> rows = Row.all(folder.resolve("growth.csv"));
        if (rows.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "A first message and a repeat from the store on the own table, one thread, single statement, no window, on"
                        + " PostgreSQL 14 with fsync on. Microseconds are the middle of a round's calls.");
        Map<String, List<Row>> cases = new TreeMap<>();
        for (Row row : rows) {
            String name = String.format("%s,%s,%12s", row.text("operation"), row.text("ids"), row.text("rows"));
            cases.computeIfAbsent(name, key -> new ArrayList<>()).add(row);
        }
        document.table(
                List.of("operation", "rows", "IDs", "50%, µs", "99%, µs", "a second", "table, MB", "indexes, MB"),
                cases.values().stream().map(Loads::growth).toList());
        charts.growth(rows).ifPresent(document::text);
    }

    private static List<String> growth(List<Row> rounds) {
        Row row = rounds.get(0);
        return List.of(
                row.text("operation"),
                Document.number(row.number("rows"), 0),
                row.text("ids"),
                spread(rounds, "p50_us").text(0),
                spread(rounds, "p99_us").text(0),
                spread(rounds, "per_second").text(0),
                Document.number(row.number("table_bytes") / 1e6, 0),
                Document.number(row.number("index_bytes") / 1e6, 0));
    }

    static Spread spread(List<Row> rows, String column) {
        return Spread.of(rows.stream().map(row -> row.number(column)).toList());
    }

    private static List<String> texts(Row row, String... columns) {
        return Stream.of(columns).map(row::text).toList();
    }
}
