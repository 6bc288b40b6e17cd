package dev.idempotency.benchmarks.report;

import dev.idempotency.benchmarks.report.Stores.Ratio;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler.ChartTheme;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Draws, and tells how Markdown shows what was drawn. A system without fonts can draw nothing; the report says so then. */
final class Charts {

    private static final int WIDTH = 900;
    private static final int HEIGHT = 480;

    private final Path folder;

    Charts(Path folder) {
        this.folder = folder;
    }

    /** Bytes an ID, window by window, for each size. */
    Optional<String> memory(List<Row> rows) {
        return drawn("memory", "Bytes an ID by window size", () -> {
            CategoryChart chart = categories("Bytes an ID by window size", "IDs", "bytes an ID");
            List<String> sizes = distinct(rows, "ids");
            for (String window : distinct(rows, "window")) {
                chart.addSeries(window, sizes, bySize(rows, window, sizes, "bytes_per_id"));
            }
            String any = rows.get(0).text("window");
            chart.addSeries("payload", sizes, bySize(rows, any, sizes, "payload_bytes"));
            chart.addSeries("on paper", sizes, bySize(rows, any, sizes, "paper_bytes"));
            return chart;
        });
    }

    private static List<Double> bySize(List<Row> rows, String window, List<String> sizes, String column) {
        return sizes.stream()
                .map(size -> rows.stream()
                        .filter(row -> row.is("window", window) && row.is("ids", size))
                        .map(row -> row.number(column))
                        .findFirst()
                        .orElse(0.0))
                .toList();
    }

    /** Percentiles of all messages by their rate, a line for each way of calling. */
    Optional<String> latencies(List<Row> rows) {
        List<Row> all = rows.stream().filter(row -> row.is("answer", "ALL")).toList();
        return drawn("latency", "Latency percentiles by rate", () -> {
            XYChart chart = lines("Latency percentiles by rate", "messages a second", "ms");
            Set<String> ways = new LinkedHashSet<>();
            all.forEach(row -> ways.add(way(row)));
            for (String way : ways) {
                for (String percentile : List.of("p50", "p99", "p999")) {
                    Map<Double, List<Double>> byRate = new TreeMap<>();
                    all.stream()
                            .filter(row -> way(row).equals(way))
                            .forEach(row -> add(byRate, row.number("rate"), row.number(percentile + "_ms")));
                    series(chart, way + " " + percentile, byRate);
                }
            }
            return chart;
        });
    }

    private static String way(Row row) {
        return row.text("mode") + " " + row.text("window");
    }

    /** Ratios of one database: the middle, and the extremes beside it. */
    Optional<String> ratios(String database, List<Ratio> ratios) {
        String title = "Messages a second by those by hand, " + database;
        return drawn("ratios-" + database, title, () -> {
            CategoryChart chart = categories(title, "", "by hand = 1");
            chart.getStyler().setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Scatter);
            chart.getStyler().setXAxisLabelRotation(45);
            List<String> names = ratios.stream()
                    .map(ratio -> ratio.pair().way() + ", " + ratio.of().threads())
                    .toList();
            chart.addSeries(
                    "greatest", names, values(ratios, ratio -> ratio.spread().greatest()));
            chart.addSeries(
                    "middle", names, values(ratios, ratio -> ratio.spread().median()));
            chart.addSeries(
                    "least", names, values(ratios, ratio -> ratio.spread().least()));
            chart.addSeries(
                    "to reach", names, values(ratios, ratio -> ratio.pair().least()));
            return chart;
        });
    }

    private static List<Double> values(List<Ratio> ratios, ToDoubleFunction<Ratio> value) {
        return ratios.stream().map(value::applyAsDouble).toList();
    }

    /** The middle call's time by the number of rows. */
    Optional<String> growth(List<Row> rows) {
        return drawn("growth", "A call's time by rows", () -> {
            XYChart chart = lines("A call's time by rows", "rows", "µs, 50%");
            for (String ids : distinct(rows, "ids")) {
                for (String operation : distinct(rows, "operation")) {
                    Map<Double, List<Double>> byRows = new TreeMap<>();
                    rows.stream()
                            .filter(row -> row.is("ids", ids) && row.is("operation", operation))
                            .forEach(row -> add(byRows, row.number("rows"), row.number("p50_us")));
                    series(chart, operation + ", " + ids, byRows);
                }
            }
            return chart;
        });
    }

    private static void add(Map<Double, List<Double>> values, double x, double y) {
        values.computeIfAbsent(x, key -> new ArrayList<>()).add(y);
    }

    private static void series(XYChart chart, String name, Map<Double, List<Double>> values) {
        Map<Double, Double> middles = new LinkedHashMap<>();
        // A logarithm has no zero.
        values.forEach((x, ys) -> middles.put(x, Math.max(0.001, Spread.of(ys).median())));
        if (!middles.isEmpty()) {
            chart.addSeries(name, List.copyOf(middles.keySet()), List.copyOf(middles.values()));
        }
    }

    private static List<String> distinct(List<Row> rows, String column) {
        return rows.stream().map(row -> row.text(column)).distinct().toList();
    }

    private static CategoryChart categories(String title, String x, String y) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .theme(ChartTheme.XChart)
                .build();
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE).setChartBackgroundColor(Color.WHITE);
        return chart;
    }

    private static XYChart lines(String title, String x, String y) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .theme(ChartTheme.XChart)
                .build();
        chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(true).setDecimalPattern("#,##0.###");
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE).setChartBackgroundColor(Color.WHITE);
        return chart;
    }

    private interface Drawing {
        Chart<?, ?> draw();
    }

    private Optional<String> drawn(String file, String title, Drawing drawing) {
        try {
            BitmapEncoder.saveBitmap(
                    drawing.draw(), folder.resolve(file + ".png").toString(), BitmapFormat.PNG);
            return Optional.of("![" + title + "](" + file + ".png)");
        } catch (IOException | RuntimeException | LinkageError | InternalError e) {
            return Optional.of("(no chart of " + file + ": " + e + ")");
        }
    }
}
