package dev.idempotency.examples.runs;

import java.io.PrintWriter;
import java.util.Locale;

/** The report of a run: counts, checks, and a verdict. */
final class Print {

    private final PrintWriter out;
    private boolean broken;

    Print(PrintWriter out) {
        this.out = out;
    }

    static String plain(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    void line(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }

    /** A promise, kept or broken. */
    void check(boolean kept, String promise) {
        broken |= !kept;
        line("%-7s %s", kept ? "ok" : "BROKEN", promise);
    }

    /** The exit code, and its word. */
    int verdict() {
        line(broken ? "FAILED: a promise was broken" : "passed");
        return broken ? 1 : 0;
    }
}
