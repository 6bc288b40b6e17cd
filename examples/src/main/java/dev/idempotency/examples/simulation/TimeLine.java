package dev.idempotency.examples.simulation;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A few messages, one row each: every copy that was sent, and what became of it. */
final class TimeLine {

    private static final List<String> HEADINGS = List.of(
            "", "sent at", "text", "0 s", "1 s", "3 s", "7 s", "15 s", "an hour later", "business retry, new ID");
    private static final String LATE = "1 h later: ";
    private static final int FIRST_TRY = 3;
    private static final int HOUR_LATER = 8;
    private static final int BUSINESS_RETRY = 9;

    private final TreeMap<Integer, List<String>> rows = new TreeMap<>();

    private TimeLine() {}

    static void print(Settings settings, Mode mode, PrintWriter out) {
        TimeLine timeLine = new TimeLine();
        new Run(settings, mode).watchedBy(timeLine::add);
        out.println("Mode \"" + mode.label() + "\"");
        out.println(Report.setting(settings));
        out.println();
        timeLine.printRows(out);
        out.println();
        out.flush();
    }

    /** What the marks mean. */
    static void explain(PrintWriter out) {
        out.println(
                "-->x lost on its way to Ben, x<-- acknowledgement lost on its way back, (killed) the application;");
        out.println("stored: a row that Ben sees; window: recognised in memory; key: caught by the unique key;");
        out.println("REPEAT: stored, and Ben had seen it; SWALLOWED: taken for a repeat, and Ben had not.");
        out.flush();
    }

    private void add(Copy copy, Run.@Nullable Sight sight) {
        Message message = copy.message();
        List<String> row = rows.computeIfAbsent(message.meaning, meaning -> {
            List<String> cells = new ArrayList<>(HEADINGS);
            cells.replaceAll(heading -> "");
            cells.set(0, String.valueOf(meaning + 1));
            cells.set(1, String.format(Locale.ROOT, "%5.1f s", message.sentAt / (double) TimeUnit.SECONDS.toNanos(1)));
            cells.set(2, message.text);
            return cells;
        });
        int column = message.retry ? BUSINESS_RETRY : copy.afterRestart() ? HOUR_LATER : FIRST_TRY + copy.attempt();
        String before = row.get(column);
        String late = message.retry && copy.afterRestart() && !before.contains(LATE) ? LATE : "";
        row.set(column, (before.isEmpty() ? "" : before + ", ") + late + mark(copy, sight));
        if (copy.afterRestart() && !message.retry) {
            row.set(FIRST_TRY + 1, "(killed)");
        }
    }

    private static String mark(Copy copy, Run.@Nullable Sight sight) {
        return sight == null ? "-->x" : word(sight) + (copy.acknowledged() ? "" : " x<--");
    }

    private static String word(Run.Sight sight) {
        return switch (sight.verdict()) {
            case STORED -> sight.again() ? "REPEAT" : "stored";
            case CAUGHT_IN_WINDOW -> sight.again() ? "window" : "SWALLOWED";
            case CAUGHT_BY_KEY -> "key";
        };
    }

    private void printRows(PrintWriter out) {
        List<List<String>> lines = new ArrayList<>(rows.values());
        lines.add(0, HEADINGS);
        int[] widths = new int[HEADINGS.size()];
        for (int column = 0; column < widths.length; column++) {
            int widest = 0;
            for (List<String> row : rows.values()) {
                widest = Math.max(widest, row.get(column).length());
            }
            widths[column] =
                    widest == 0 ? 0 : Math.max(widest, HEADINGS.get(column).length());
        }
        for (List<String> line : lines) {
            StringBuilder text = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                if (widths[column] > 0) {
                    text.append(String.format("%-" + widths[column] + "s  ", line.get(column)));
                }
            }
            out.println(text.toString().stripTrailing());
        }
    }
}
