package dev.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The part about stores: each way by the same work by hand, round by round. */
final class Stores {

    /** A way of the library, what it is held against, and the least ratio of messages a second. */
    record Pair(String what, String way, String byHand, double least) {}

    /** What the library does, the same by hand, and the figure to reach. */
    private static final List<Pair> PAIRS = List.of(
            new Pair("own table, first, single statement", "ownTableSingleStatement", "byHandAutocommit", 0.95),
            new Pair(
                    "own table, first, single statement, beside a Jdbi handle by hand",
                    "ownTableSingleStatement",
                    "byHandHandle",
                    0.95),
            new Pair("own table, first, any action", "ownTable", "byHandTransaction", 0.95),
            new Pair("transactional, first, keys first", "transactional", "byHandClaimFirst", 1.15),
            new Pair("transactional, first, action first", "transactionalActionFirst", "byHandClaimFirst", 1.15),
            new Pair("repeat from the store, own table", "ownTableRepeat", "byHandRepeat", 0.95),
            new Pair(
                    "repeat from the store, own table, single statement",
                    "ownTableSingleStatementRepeat",
                    "byHandRepeat",
                    0.95),
            new Pair("repeat from the store, keys first", "transactionalRepeat", "byHandRepeat", 0.95),
            new Pair("repeat from the store, action first", "transactionalActionFirstRepeat", "byHandRepeat", 0.95),
            new Pair("batch of 100, own table", "ownTableBatch", "byHandBatch", 0.85),
            new Pair("batch of 100, library's table, keys first", "transactionalBatch", "byHandBatchWithKeys", 0.85),
            new Pair(
                    "batch of 100, library's table, action first",
                    "transactionalActionFirstBatch",
                    "byHandBatchWithKeys",
                    0.85),
            new Pair(
                    "Redis, claim and completion, beside EVALSHA of the same", "redisFirst", "evalshaRedisFirst", 0.95),
            new Pair(
                    "Redis, claim that finds the response, beside EVALSHA of the same",
                    "redisRepeat",
                    "evalshaRedisRepeat",
                    0.95),
            new Pair(
                    "Redis, claim and completion, beside the plainest scripts", "redisFirst", "byHandRedisFirst", 0.95),
            new Pair(
                    "Redis, claim that finds the response, beside the plainest scripts",
                    "redisRepeat",
                    "byHandRedisRepeat",
                    0.95));

    /** Where and by how many threads. */
    record Case(String database, String threads) {

        boolean has(Row row) {
            return row.is("database", database) && row.is("threads", threads);
        }

        /** Whether the figures to reach are for it. */
        boolean counts() {
            return database.startsWith("POSTGRESQL") || database.startsWith("REDIS");
        }

        @Override
        public String toString() {
            return database + ", " + threads + (threads.equals("1") ? " thread" : " threads");
        }
    }

    /** A ratio, with its spread over the rounds. */
    record Ratio(Case of, Pair pair, Spread spread) {}

    private static final double BATCHED_A_SECOND = 13_900;
    private static final String PER_SECOND = "messages_per_second";

    private final Path folder;
    private final Document document;
    private final Charts charts;
    private final List<Row> rows;

    Stores(Path folder, Document document, Charts charts) throws IOException {
        this.folder = folder;
        this.document = document;
        this.charts = charts;
        this.rows = Row.all(folder.resolve("stores.csv"));
    }

    void write() throws IOException {
        Set<Case> cases = new LinkedHashSet<>();
        rows.forEach(row -> cases.add(new Case(row.text("database"), row.text("threads"))));
        List<Ratio> ratios = new ArrayList<>();
        for (Case of : cases) {
            for (Pair pair : PAIRS) {
                Spread spread = ratio(of, pair);
                if (spread.isThere()) {
                    ratios.add(new Ratio(of, pair, spread));
                }
            }
        }
        PAIRS.forEach(pair -> figure(pair, ratios));
        double batched =
                spread(new Case("POSTGRESQL", "1"), "ownTableBatch", PER_SECOND).median();
        document.figure(
                "batch of 100, PostgreSQL with fsync on, 1 thread, messages a second",
                "≥ 13,900",
                Document.number(batched, 0),
                Document.atLeast(batched, BATCHED_A_SECOND));
        document.title("Stores: ratios to the same work by hand");
        if (ratios.isEmpty()) {
            document.text(Document.NOT_MEASURED);
            return;
        }
        document.text(
                "Messages a second by the library, by those of the same work by hand in the same round: above 1 is faster than"
                        + " by hand. `POSTGRESQL_FAST` flushes nothing, `POSTGRESQL` has fsync on. The figures to reach are for"
                        + " PostgreSQL, and shown for the others too.");
        for (Case of : cases) {
            document.text("### " + of);
            document.table(
                    List.of("what", "by", "ratio", "to reach", "reached"),
                    ratios.stream()
                            .filter(ratio -> ratio.of().equals(of))
                            .map(Stores::cells)
                            .toList());
        }
        for (String database : cases.stream().map(Case::database).distinct().toList()) {
            charts.ratios(
                            database,
                            ratios.stream()
                                    .filter(ratio -> ratio.of().database().equals(database))
                                    .toList())
                    .ifPresent(document::text);
        }
        absolute(cases);
        save(ratios);
    }

    private static List<String> cells(Ratio ratio) {
        Pair pair = ratio.pair();
        return List.of(
                pair.what(),
                "`" + pair.byHand() + "`",
                ratio.spread().text(2),
                "≥ " + pair.least(),
                Document.atLeast(ratio.spread().median(), pair.least()));
    }

    private Spread ratio(Case of, Pair pair) {
        List<Double> ratios = new ArrayList<>();
        for (Row row : rows) {
            if (of.has(row) && row.is("way", pair.way())) {
                rows.stream()
                        .filter(other ->
                                of.has(other) && other.is("way", pair.byHand()) && other.is("round", row.text("round")))
                        .findFirst()
                        .ifPresent(byHand -> ratios.add(row.number(PER_SECOND) / byHand.number(PER_SECOND)));
            }
        }
        return Spread.of(ratios);
    }

    private Spread spread(Case of, String way, String column) {
        return Spread.of(rows.stream()
                .filter(row -> of.has(row) && row.is("way", way))
                .map(row -> row.number(column))
                .toList());
    }

    /** The lowest of the cases that count. */
    private void figure(Pair pair, List<Ratio> ratios) {
        Ratio lowest = null;
        for (Ratio ratio : ratios) {
            if (ratio.pair().equals(pair)
                    && ratio.of().counts()
                    && (lowest == null
                            || ratio.spread().median() < lowest.spread().median())) {
                lowest = ratio;
            }
        }
        document.figure(
                pair.way(),
                pair.what() + ", by hand = 1",
                "≥ " + pair.least(),
                lowest == null ? Document.NOT_MEASURED : lowest.spread().text(2) + " (" + lowest.of() + ", the lowest)",
                lowest == null
                        ? Document.NOT_MEASURED
                        : Document.atLeast(lowest.spread().median(), pair.least()));
    }

    private void absolute(Set<Case> cases) {
        document.title("Stores: messages a second, and allocation");
        document.text(
                "The middle of the rounds, with the extremes. Bytes are what the client's JVM allocates for a message, its"
                        + " drivers too, and for H2 the database itself, which runs in it.");
        List<List<String>> cells = new ArrayList<>();
        for (String way : rows.stream().map(row -> row.text("way")).distinct().toList()) {
            for (Case of : cases) {
                Spread spread = spread(of, way, PER_SECOND);
                if (spread.isThere()) {
                    double bytes = spread(of, way, "bytes_per_message").median();
                    cells.add(List.of(
                            "`" + way + "`", of.database(), of.threads(), spread.text(0), Document.number(bytes, 0)));
                }
            }
        }
        document.table(List.of("way", "database", "threads", "messages a second", "bytes a message"), cells);
    }

    private void save(List<Ratio> ratios) throws IOException {
        List<String> lines = new ArrayList<>(List.of("database,threads,way,by_hand,to_reach,least,median,greatest"));
        for (Ratio ratio : ratios) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%s,%s,%s,%s,%s,%.3f,%.3f,%.3f",
                    ratio.of().database(),
                    ratio.of().threads(),
                    ratio.pair().way(),
                    ratio.pair().byHand(),
                    ratio.pair().least(),
                    ratio.spread().least(),
                    ratio.spread().median(),
                    ratio.spread().greatest()));
        }
        Files.write(folder.resolve("ratios.csv"), lines, StandardCharsets.UTF_8);
    }
}
