package dev.idempotency.examples.runs;

import dev.idempotency.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Copies of keys race one another in many threads of several processes, on one database.
 *
 * <ol>
 *   <li>Each of {@code --keys} keys is sent {@code --duplicates} times, by processes chosen at random, which are kept
 *       together so that the copies meet. One key in ten has a second name, and half of its copies are business retries.
 *   <li>Every copy is sent until it is answered, whatever the store says of trying again.
 *   <li>Then: effects in the database and executions in the processes are as many as keys, each key has one, and every
 *       reply to a key, in whatever process, is the response that is stored.
 * </ol>
 */
@Command(
        name = "race",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        description = "Copies of keys race in threads and processes; each must be executed once and answered alike.")
public final class Race implements Callable<Integer> {

    private static final long PROGRESS_MILLIS = 3_000;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--store", paramLabel = "S", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}")
    private StoreKind store = StoreKind.OWN_TABLE;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Option(names = "--processes", paramLabel = "N", description = "default ${DEFAULT-VALUE}")
    private int processes = 4;

    @Option(names = "--threads", paramLabel = "N", description = "of each process; default ${DEFAULT-VALUE}")
    private int threads = 8;

    @Option(names = "--calls", paramLabel = "N", description = "keys times duplicates; default 100,000")
    private long calls;

    @Option(names = "--keys", paramLabel = "N", description = "default: calls through duplicates")
    private int keys;

    @Option(names = "--duplicates", paramLabel = "N", description = "copies of each key; default 5")
    private int duplicates;

    @Option(names = "--pool", paramLabel = "N", description = "connections of each process; default: its threads")
    private int pool;

    @Option(names = "--window", description = "a window in each process; without it the database does all the work")
    private boolean window;

    @Option(names = "--seed", paramLabel = "N", description = "which process gets which copy; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Option(names = "--minutes", paramLabel = "N", description = "give up after; default ${DEFAULT-VALUE}")
    private int minutes = 60;

    Race() {}

    /**
     * Runs the program.
     *
     * @param arguments options; see {@code --help}
     */
    public static void main(String[] arguments) {
        Program.main(new Race(), arguments);
    }

    @Override
    public Integer call() throws Exception {
        if (spec == null) {
            throw new IllegalStateException("picocli gives the spec before it calls");
        }
        database.check(store, spec);
        try {
            settle();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        Print print = new Print(spec.commandLine().getOut());
        print.line(
                "%s on %s: %,d processes of %,d threads, %,d keys, %,d copies of each; window %s; %s",
                store,
                database.database,
                processes,
                threads,
                keys,
                duplicates,
                window ? "on" : "off",
                database.durability());
        Path folder = Files.createTempDirectory("race");
        try (RunningDatabase running = database.open()) {
            ServiceSettings service = new ServiceSettings(
                    store,
                    database.database,
                    running.url(),
                    DatabaseOptions.newRun(),
                    pool == 0 ? threads : pool,
                    Duration.ofSeconds(30),
                    window);
            RaceSettings settings =
                    new RaceSettings(service, processes, threads, keys, duplicates, seed, folder.toString());
            try (Service own = service.open()) {
                Counts counts = race(settings, print);
                report(settings, own, counts, print);
            }
        } finally {
            delete(folder);
        }
        return print.verdict();
    }

    /** Any two of calls, keys and duplicates give the third. */
    private void settle() {
        Program.atLeast("--processes", processes, 1);
        Program.atLeast("--threads", threads, 1);
        if (duplicates == 0) {
            duplicates = keys > 0 && calls > 0 ? (int) Math.max(1, calls / keys) : 5;
        }
        Program.atLeast("--duplicates", duplicates, 1);
        if (keys == 0) {
            keys = Math.toIntExact((calls == 0 ? 100_000 : calls) / duplicates);
        }
        Program.atLeast("--keys", keys, 1);
        if (calls != 0 && calls != (long) keys * duplicates) {
            throw new IllegalArgumentException(String.format(
                    "--calls %,d are not --keys %,d times --duplicates %,d; leave one out", calls, keys, duplicates));
        }
        calls = (long) keys * duplicates;
    }

    private Counts race(RaceSettings settings, Print print) throws InterruptedException {
        Board board = new Board(Path.of(settings.folder(), "board"), processes);
        List<ChildJvm> children = new ArrayList<>();
        try {
            for (int i = 0; i < processes; i++) {
                children.add(ChildJvm.start(
                        RaceProcess.class,
                        Duration.ofMinutes(minutes),
                        settings.arguments(i).toArray(String[]::new)));
            }
            for (ChildJvm child : children) {
                child.awaitReady();
            }
            long start = System.nanoTime();
            children.forEach(ChildJvm::go);
            while (children.stream().anyMatch(ChildJvm::isAlive) && board.answered() < settings.calls()) {
                Thread.sleep(Math.min(PROGRESS_MILLIS, 1 + settings.calls() / 10));
                progress(board, start, print);
            }
            Counts counts = new Counts();
            for (ChildJvm child : children) {
                counts.addLines(child.finish());
            }
            double seconds = seconds(start);
            print.line("%,d calls in %.1f s, %,.0f a second", settings.calls(), seconds, settings.calls() / seconds);
            return counts;
        } finally {
            children.forEach(ChildJvm::close);
        }
    }

    private void progress(Board board, long start, Print print) {
        long answered = board.answered();
        double seconds = seconds(start);
        print.line(
                "  %,d of %,d calls answered after %.0f s, %,.0f a second",
                answered, calls, seconds, answered / seconds);
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private static void report(RaceSettings settings, Service service, Counts counts, Print print) throws IOException {
        Replies stored = new Replies(settings.keys());
        BitSet seen = new BitSet();
        AtomicLong effects = new AtomicLong();
        AtomicLong twice = new AtomicLong();
        service.effects((number, response) -> {
            effects.incrementAndGet();
            if (seen.get((int) number)) {
                twice.incrementAndGet();
            }
            seen.set((int) number);
            stored.same((int) number, response);
        });
        long others = 0;
        for (int i = 0; i < settings.processes(); i++) {
            others += stored.others(Path.of(settings.folder(), "replies-" + i));
        }
        long executed = counts.get("executed");
        long replayed = counts.sum("replayed");
        long unknown = counts.get("again OutcomeUnknownException");
        print.line("executed %,d; replayed %s", executed, counts.text("replayed "));
        print.line("sent again after: %s; takeovers %,d", counts.text("again "), counts.get("takeovers"));
        print.check(counts.sum("failure") == 0, "no other failure: " + counts.text("failure "));
        print.check(executed + replayed == settings.calls(), "every call is answered");
        print.check(
                executed <= settings.keys() && executed + unknown >= settings.keys(),
                String.format("executions, as the processes counted them: %,d of %,d keys", executed, settings.keys()));
        print.check(
                effects.get() == settings.keys(),
                String.format("effects in the database: %,d of %,d keys", effects.get(), settings.keys()));
        print.check(twice.get() == 0, String.format("stored twice: %,d", twice.get()));
        print.check(
                seen.cardinality() == settings.keys(),
                String.format("lost: %,d", settings.keys() - seen.cardinality()));
        print.check(others == 0, String.format("keys with a reply that is not the stored one: %,d", others));
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
