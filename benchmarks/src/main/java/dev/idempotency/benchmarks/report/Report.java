package dev.idempotency.benchmarks.report;

import dev.idempotency.benchmarks.Results;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes {@code report.md}, {@code figures.csv}, {@code ratios.csv} and charts of the files that the benchmarks have left, and
 * runs none of them. What is missing is told to be not measured.
 */
public final class Report {

    private Report() {}

    /**
     * Makes it.
     *
     * @param arguments none
     * @throws IOException if results can't be read or the report can't be written
     */
    public static void main(String[] arguments) throws IOException {
        System.setProperty("java.awt.headless", "true");
        write(Results.folder());
        System.out.println("written to " + Results.folder().resolve("report.md"));
    }

    static void write(Path folder) throws IOException {
        Document document = new Document(folder);
        Charts charts = new Charts(folder);
        new Windows(folder, document, charts).write();
        new Stores(folder, document, charts).write();
        new Loads(folder, document, charts).write();
        notes(folder, document);
        document.write();
    }

    private static void notes(Path folder, Document document) throws IOException {
        document.title("How it was measured");
        Map<String, String> notes = new LinkedHashMap<>();
        for (Row row : Row.all(folder.resolve(Results.NOTES))) {
            notes.put(row.text("name"), row.text("value").replace("|", "/"));
        }
        if (notes.isEmpty()) {
            document.text("Nothing is noted about the machine.");
            return;
        }
        document.table(
                List.of("", ""),
                notes.entrySet().stream()
                        .map(note -> List.of(note.getKey(), note.getValue()))
                        .toList());
    }
}
