package dev.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The report while it is written: Markdown, and the figures to reach for its first table. */
final class Document {

    static final String NOT_MEASURED = "not measured";

    private static final String MISSED = "**no**";

    private final Path folder;
    private final StringBuilder body = new StringBuilder();
    private final List<List<String>> figures = new ArrayList<>();

    Document(Path folder) {
        this.folder = folder;
    }

    void title(String title) {
        body.append("## ").append(title).append("\n\n");
    }

    void text(String text) {
        body.append(text).append("\n\n");
    }

    void table(List<String> header, List<List<String>> rows) {
        body.append(markdown(header, rows)).append('\n');
    }

    /** A figure that the first table tells. */
    void figure(String what, String toReach, String measured, String reached) {
        figures.add(List.of(what, toReach, measured, reached));
    }

    /** The same, of a way whose profile, if there is one, is shown where the figure is missed. */
    void figure(String way, String what, String toReach, String measured, String reached) {
        String profile = Profile.file(way);
        boolean shown = reached.equals(MISSED) && Files.exists(folder.resolve(profile));
        figure(what, toReach, measured, reached + (shown ? " ([profile](" + profile + "))" : ""));
    }

    void write() throws IOException {
        List<String> header = List.of("what", "to reach", "measured", "reached");
        Files.writeString(
                folder.resolve("report.md"),
                "# What it costs, measured\n\n"
                        + "Ratios compare what was measured in one run; absolute figures are this machine's, on that day."
                        + " Three numbers are least – **middle** – greatest.\n\n## Figures to reach\n\n"
                        + markdown(header, figures) + "\n" + body.toString().strip() + "\n",
                StandardCharsets.UTF_8);
        List<String> lines = new ArrayList<>(List.of("what,to_reach,reached,measured"));
        for (List<String> figure : figures) {
            lines.add(comma(figure.get(0)) + "," + comma(figure.get(1)) + "," + figure.get(3) + "," + figure.get(2));
        }
        Files.write(folder.resolve("figures.csv"), lines, StandardCharsets.UTF_8);
    }

    private static String comma(String text) {
        return text.replace(",", ";");
    }

    private static String markdown(List<String> header, List<List<String>> rows) {
        StringBuilder table = new StringBuilder();
        line(table, header);
        line(table, header.stream().map(name -> "---").toList());
        rows.forEach(row -> line(table, row));
        return table.toString();
    }

    private static void line(StringBuilder table, List<String> cells) {
        table.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    static String number(double value, int decimals) {
        return Double.isNaN(value) ? NOT_MEASURED : String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    static String atLeast(double value, double least) {
        return Double.isNaN(value) ? NOT_MEASURED : value >= least ? "yes" : MISSED;
    }

    static String atMost(double value, double most) {
        return Double.isNaN(value) ? NOT_MEASURED : value <= most ? "yes" : MISSED;
    }
}
