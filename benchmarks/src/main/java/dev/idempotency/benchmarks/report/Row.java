package dev.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A line of a CSV file, by the names in its first line. */
record Row(Map<String, String> values) {

    /** The lines of a file; none if there is no such file. The last column may hold commas. */
    static List<Row> all(Path file) throws IOException {
        List<Row> rows = new ArrayList<>();
        if (!Files.exists(file)) {
            return rows;
        }
        List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        String[] names = lines.isEmpty() ? new String[0] : lines.get(0).split(",", -1);
        for (String line : lines.subList(Math.min(1, lines.size()), lines.size())) {
            String[] values = line.split(",", names.length);
            Map<String, String> byName = new LinkedHashMap<>();
            for (int i = 0; i < values.length; i++) {
                byName.put(names[i], values[i]);
            }
            if (!line.isBlank()) {
                rows.add(new Row(byName));
            }
        }
        return rows;
    }

    /** What stands there; nothing if there is no such column. */
    String text(String name) {
        return values.getOrDefault(name, "");
    }

    /** The number there; NaN if there is none. */
    double number(String name) {
        String text = text(name);
        return text.isEmpty() ? Double.NaN : Double.parseDouble(text);
    }

    boolean is(String name, Object value) {
        return text(name).equals(value.toString());
    }
}
