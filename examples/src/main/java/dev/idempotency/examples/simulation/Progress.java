package dev.idempotency.examples.simulation;

import java.io.Console;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One line on the terminal that is written over again and again, and wiped out at the end. */
final class Progress {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final PrintStream terminal;
    private final boolean shown;
    private long lastShown = System.nanoTime();
    private int width;

    Progress(PrintStream terminal, boolean shown) {
        this.terminal = terminal;
        this.shown = shown;
    }

    /** On standard error, if somebody sits at a terminal. */
    static Progress onTerminal() {
        return new Progress(System.err, isTerminal(System.console()));
    }

    void at(String what, Network network, Settings settings) {
        if (!shown || System.nanoTime() - lastShown < PAUSE_NANOS) {
            return;
        }
        lastShown = System.nanoTime();
        show(String.format(
                "%s: %,d of %,d messages sent, %,d arrived",
                what, network.written(), settings.messages(), network.messagesArrived()));
    }

    void wipe() {
        if (width > 0) {
            show("");
            terminal.print('\r');
            terminal.flush();
            width = 0;
        }
    }

    private void show(String line) {
        terminal.print('\r' + line + " ".repeat(Math.max(0, width - line.length())));
        terminal.flush();
        width = line.length();
    }

    /** From Java 22 on there is a console without a terminal too, and a method, which Java 17 lacks, that tells. */
    private static boolean isTerminal(@Nullable Console console) {
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }
}
