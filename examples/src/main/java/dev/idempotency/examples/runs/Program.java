package dev.idempotency.examples.runs;

import java.util.concurrent.Callable;
import picocli.CommandLine;

/** How each run becomes a program: exit code 0, 1 for a broken promise or a failure, 2 for wrong options. */
final class Program {

    private Program() {}

    static CommandLine commandLine(Callable<Integer> run) {
        return new CommandLine(run).setCaseInsensitiveEnumValuesAllowed(true);
    }

    static void main(Callable<Integer> run, String[] arguments) {
        int exitCode = commandLine(run).execute(arguments);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    static void atLeast(String option, long number, long least) {
        if (number < least) {
            throw new IllegalArgumentException(option + " takes " + least + " or more, not " + number);
        }
    }
}
