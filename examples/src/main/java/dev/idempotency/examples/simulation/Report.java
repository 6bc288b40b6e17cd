package dev.idempotency.examples.simulation;

import static dev.idempotency.examples.simulation.Numbers.counted;
import static dev.idempotency.examples.simulation.Numbers.percent;
import static dev.idempotency.examples.simulation.Numbers.plain;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** A table with a row for each mode, within 100 columns. A row is printed as soon as its mode is done. */
final class Report {

    private final PrintWriter out;
    private final Progress progress;

    Report(PrintWriter out, Progress progress) {
        this.out = out;
        this.progress = progress;
    }

    void print(String title, Settings settings, List<Mode> modes) {
        out.println(title);
        out.println(setting(settings));
        out.println();
        line("", "copies", "rows", "repeats", "", "messages", "caught in", "caught by", "database");
        line("", "arrived", "stored", "Ben sees", "", "swallowed", "window", "unique key", "statements");
        out.println("-".repeat(100));
        Network network = null;
        Tally tally = null;
        for (Mode mode : modes) {
            Run run = new Run(settings, mode);
            String what = "mode " + (modes.indexOf(mode) + 1) + " of " + modes.size();
            network = run.network();
            tally = run.watchedBy((copy, sight) -> progress.at(what, run.network(), settings));
            progress.wipe();
            row(tally);
            out.flush();
        }
        if (network != null && tally != null) {
            out.println();
            out.println(arrivals(network, tally));
        }
        out.println();
        out.flush();
    }

    /** What the tables mean. */
    void explain() {
        out.println(
                "Repeats: rows that tell Ben what he has seen; the share is of the messages that arrived. Swallowed:");
        out.println(
                "arrived, and never shown. The window saves statements (commits are not counted); only the unique key");
        out.println(
                "holds an hour later and on many servers; only the second layer, the business ID, knows its retries.");
        out.flush();
    }

    static String setting(Settings settings) {
        String text = counted(settings.messages(), "message") + " from " + counted(settings.senders(), "sender") + ", "
                + plain(settings.rate()) + " a second; " + percent(settings.loss()) + " lost each way; "
                + counted(settings.servers(), "server") + "; seed " + settings.seed() + "; H2 in "
                + (Inbox.inMemory(settings.messages()) ? "memory" : "a file");
        return settings.resent() == 0 && settings.retried() == 0
                ? text
                : text + ";\n" + percent(settings.resent()) + " resent an hour later from the outbox, "
                        + percent(settings.retried()) + " business retries";
    }

    private static String arrivals(Network network, Tally tally) {
        long retries = network.messagesArrived() - tally.meanings();
        String text = counted(tally.meanings(), "message") + " arrived at least once";
        if (retries > 0) {
            text += ", and so did " + plain(retries) + " of the business retries";
        }
        if (network.arrivedAgainLate() > 0) {
            text += ";\n" + plain(network.arrivedAgainLate()) + " of these arrived again an hour later";
        }
        return text + "; " + plain(network.givenUp()) + " given up by the sender at 31 s.";
    }

    private void row(Tally tally) {
        line(
                tally.mode().label(),
                plain(tally.copies()),
                plain(tally.rows()),
                plain(tally.repeats()),
                String.format(Locale.ROOT, "%.1f%%", tally.repeatPercent()),
                plain(tally.swallowed()),
                plain(tally.caughtInWindow()),
                plain(tally.caughtByKey()),
                plain(tally.statements()));
    }

    private void line(Object... cells) {
        out.printf(Locale.ROOT, "%-21s %9s %9s %9s %6s %9s %9s %10s %10s%n", cells);
    }
}
