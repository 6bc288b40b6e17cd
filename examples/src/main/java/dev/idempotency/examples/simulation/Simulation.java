package dev.idempotency.examples.simulation;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The program: reads options, and prints two tables, or one, or a time line. Exits with 0, or with 2 and one line that
 * says what is allowed.
 */
@Command(
        name = "simulation",
        sortOptions = false,
        usageHelpAutoWidth = false,
        usageHelpWidth = 100,
        description = {
            "Ana's messages to Ben over a network that loses some, stored in H2, and who sees a repeat.",
            "Without --resent and --retried two tables: the losses alone; then with 2%% resent, 1%% retried."
        })
public final class Simulation implements Callable<Integer> {

    /** A run of 10,000 with it comes near the share of repeats on paper, and the time line shows each kind of fate. */
    static final long DEFAULT_SEED = 1;

    private static final int LONGEST_TIME_LINE = 100;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--messages", paramLabel = "N", description = "messages, 1 to 100,000,000; default 10,000")
    private @Nullable Integer messages;

    @Option(names = "--senders", paramLabel = "N", description = "senders, 1 to 1,000,000; default 100")
    private @Nullable Integer senders;

    @Option(
            names = "--rate",
            paramLabel = "R",
            description = "messages a second of virtual time, 0.001 to 1,000,000; default 139")
    private @Nullable Double rate;

    @Option(names = "--loss", paramLabel = "S", description = "share lost in each direction, 0 to 1; default 0.1")
    private @Nullable Double loss;

    @Option(
            names = "--resent",
            paramLabel = "S",
            description = "share resent an hour later from the outbox, after the application was killed; 0 to 1")
    private @Nullable Double resent;

    @Option(
            names = "--retried",
            paramLabel = "S",
            description = "share of business retries, new message ID and same business ID; 0 to 1")
    private @Nullable Double retried;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "servers, each with a window of its own, one database; 1 to 1,000; default 1")
    private @Nullable Integer servers;

    @Option(names = "--seed", paramLabel = "N", description = "seed of the random numbers, a whole number")
    private @Nullable Long seed;

    @Option(
            names = {"--modes", "--mode"},
            paramLabel = "M",
            split = ",",
            description = "all, or some of no-dedup, sender-and-text, highest-number, window-only, unique-key-only,"
                    + " window-and-unique-key, two-layers, with commas")
    private @Nullable List<String> modes;

    @Option(
            names = "--timeline",
            description = "8 messages of one sender, a row each: every copy and what became of it; 1 to 100 messages")
    private boolean timeLine;

    private final Progress progress;

    Simulation(Progress progress) {
        this.progress = progress;
    }

    /**
     * Runs the program.
     *
     * @param arguments options; see {@code --help}
     */
    public static void main(String[] arguments) {
        int exitCode = commandLine(new Simulation(Progress.onTerminal())).execute(arguments);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    static CommandLine commandLine(Simulation simulation) {
        CommandLine commandLine = new CommandLine(simulation);
        commandLine
                .getCommandSpec()
                .addOption(OptionSpec.builder("--help")
                        .usageHelp(true)
                        .description("print this")
                        .build());
        return commandLine.setParameterExceptionHandler((failure, arguments) -> {
            failure.getCommandLine().getErr().println(whatIsAllowed(failure));
            return CommandLine.ExitCode.USAGE;
        });
    }

    @Override
    public Integer call() {
        PrintWriter out = command().commandLine().getOut();
        try {
            if (timeLine) {
                printTimeLines(out);
            } else {
                printTables(out);
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command().commandLine(), String.valueOf(e.getMessage()), e);
        }
        return CommandLine.ExitCode.OK;
    }

    private void printTables(PrintWriter out) {
        List<Mode> chosen = modes(List.of(Mode.values()));
        Report report = new Report(out, progress);
        if (resent == null && retried == null) {
            Settings losses = table(0, 0);
            Settings all = table(0.02, 0.01);
            report.print("1. The network's losses alone", losses, chosen);
            report.print("2. The same, with resends from the outbox and business retries", all, chosen);
        } else {
            report.print("Messages from Ana to Ben", table(0, 0), chosen);
        }
        report.explain();
    }

    private void printTimeLines(PrintWriter out) {
        Settings settings = new Settings(
                or(messages, 8),
                or(senders, 1),
                or(rate, 1.0),
                or(loss, 0.25),
                or(resent, 0.15),
                or(retried, 0.15),
                or(servers, 1),
                or(seed, DEFAULT_SEED));
        if (settings.messages() > LONGEST_TIME_LINE) {
            throw new IllegalArgumentException(
                    "--messages takes 1 to " + LONGEST_TIME_LINE + " with --timeline, not " + settings.messages());
        }
        for (Mode mode : modes(List.of(Mode.WINDOW_AND_UNIQUE_KEY))) {
            TimeLine.print(settings, mode, out);
        }
        TimeLine.explain(out);
    }

    private Settings table(double resentElse, double retriedElse) {
        return new Settings(
                or(messages, 10_000),
                or(senders, 100),
                or(rate, 139.0),
                or(loss, 0.1),
                or(resent, resentElse),
                or(retried, retriedElse),
                or(servers, 1),
                or(seed, DEFAULT_SEED));
    }

    private List<Mode> modes(List<Mode> otherwise) {
        if (modes == null) {
            return otherwise;
        }
        if (modes.equals(List.of("all"))) {
            return List.of(Mode.values());
        }
        return modes.stream().map(Mode::of).distinct().sorted().toList();
    }

    private CommandSpec command() {
        if (spec == null) {
            throw new IllegalStateException("picocli gives the spec before it calls");
        }
        return spec;
    }

    private static <T> T or(@Nullable T given, T otherwise) {
        return given == null ? otherwise : given;
    }

    /** One line, whatever was wrong. */
    private static String whatIsAllowed(ParameterException failure) {
        String wrong = String.valueOf(failure.getMessage()).lines().findFirst().orElse("wrong input");
        if (failure.getArgSpec() instanceof OptionSpec option) {
            return wrong + "; " + option.longestName() + ": " + String.join(" ", option.description());
        }
        if (failure.getCause() instanceof IllegalArgumentException) {
            return wrong;
        }
        return wrong + "; allowed are "
                + failure.getCommandLine().getCommandSpec().options().stream()
                        .flatMap(option -> Arrays.stream(option.names()))
                        .collect(Collectors.joining(", "));
    }
}
