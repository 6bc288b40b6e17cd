package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.Durability;
import dev.idempotency.testkit.servers.PostgresqlServer;
import dev.idempotency.testkit.servers.TestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Applications are killed and their server is lost, while senders send each key until it is acknowledged.
 *
 * <ol>
 *   <li>Each application is a process; it is killed at a random moment while it works, and replaced by one that has
 *       started up meanwhile.
 *   <li>PostgreSQL is stopped in immediate mode, MariaDB and Redis are killed; it is started again on what is on its disk.
 *       Its commits are flushed. A Redis that flushes less often, or whose replica is promoted, may forget: that is counted
 *       and explained.
 *   <li>Senders never stop; of what they send, three in ten is being sent by others too, and one in ten is old.
 *   <li>In the end: each acknowledged key is stored, with the response that was told; no key is stored twice, none got two
 *       replies; no lease kept a key taken for longer than it lasts.
 * </ol>
 */
@Command(
        name = "kills",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        usageHelpWidth = 100,
        description = "Applications and their server are killed while senders send until they are acknowledged.")
public final class Kills implements Callable<Integer> {

    /** Beyond a lease, for pauses of senders and a busy machine. */
    static final Duration SLACK = Duration.ofSeconds(10);

    private static final Duration PROGRESS = Duration.ofSeconds(5);

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--store", paramLabel = "S", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}")
    private StoreKind store = StoreKind.OWN_TABLE;

    @Option(
            names = "--database",
            paramLabel = "D",
            description = "postgresql, postgresql17 or mariadb; default ${DEFAULT-VALUE}")
    private DatabaseKind database = DatabaseKind.POSTGRESQL;

    @Option(names = "--app-kills", paramLabel = "N", description = "default ${DEFAULT-VALUE}")
    private int appKills = 20;

    @Option(
            names = {"--server-stops", "--server-kills"},
            paramLabel = "N",
            description = "immediate stops of PostgreSQL, kills of MariaDB and Redis; default ${DEFAULT-VALUE}")
    private int serverStops = 3;

    @Mixin
    private final KillsRedis redis = new KillsRedis();

    @Option(names = "--processes", paramLabel = "N", description = "applications; default ${DEFAULT-VALUE}")
    private int processes = 3;

    @Option(names = "--threads", paramLabel = "N", description = "senders for each; default ${DEFAULT-VALUE}")
    private int threads = 4;

    @Option(names = "--lease", paramLabel = "MS", description = "milliseconds of a lease; default ${DEFAULT-VALUE}")
    private int lease = 1_000;

    @Option(names = "--minutes", paramLabel = "N", description = "fail after; default ${DEFAULT-VALUE}")
    private int minutes = 60;

    Kills() {}

    /**
     * Runs the program.
     *
     * @param arguments options; see {@code --help}
     */
    public static void main(String[] arguments) {
        Program.main(new Kills(), arguments);
    }

    @Override
    public Integer call() throws Exception {
        if (spec == null) {
            throw new IllegalStateException("picocli gives the spec before it calls");
        }
        try {
            Program.atLeast("--processes", processes, 1);
            Program.atLeast("--threads", threads, 1);
            Program.atLeast("--app-kills", appKills, 0);
            Program.atLeast("--server-stops", serverStops, 0);
            Program.atLeast("--lease", lease, 100);
            redis.check(store);
            if (database == DatabaseKind.H2 || database == DatabaseKind.REDIS_CLUSTER) {
                throw new IllegalArgumentException("--database takes a server that can be killed, not " + database);
            }
            if ((store == StoreKind.REDIS) != database.isRedis()) {
                throw new IllegalArgumentException("--store redis and --database redis go together");
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        Print print = new Print(spec.commandLine().getOut());
        print.line(
                "%s on %s, %s: %,d kills among %,d applications, %,d losses of the server, %,d senders",
                store, database, redis, appKills, processes, serverStops, processes * threads);
        KillsLedger ledger = new KillsLedger();
        try (redis;
                RunningDatabase running = started()) {
            ServiceSettings settings = redis.with(new ServiceSettings(
                    store,
                    database,
                    running.url(),
                    DatabaseOptions.newRun(),
                    threads + 1,
                    Duration.ofMillis(lease),
                    false));
            // It creates the tables before anybody races for that.
            settings.open().close();
            long start = System.nanoTime();
            boolean inTime = run(settings, running.server(), ledger, print);
            double seconds = (System.nanoTime() - start) / 1e9;
            try (Service service = settings.open()) {
                report(service, settings.run(), ledger, inTime, seconds, print);
            }
        }
        return print.verdict();
    }

    private RunningDatabase started() {
        RunningDatabase forgetful = redis.start();
        return forgetful == null ? RunningDatabase.start(database, Durability.DURABLE) : forgetful;
    }

    /** True if all kills were done in time. */
    private boolean run(ServiceSettings settings, @Nullable TestServer server, KillsLedger ledger, Print print)
            throws Exception {
        AtomicInteger killsLeft = new AtomicInteger(appKills);
        AtomicInteger stopsLeft = new AtomicInteger(serverStops);
        AtomicInteger phase = new AtomicInteger();
        BooleanSupplier sendersEnd = () -> phase.get() >= 1;
        BooleanSupplier applicationsEnd = () -> phase.get() >= 2;
        AtomicLong nextNumber = new AtomicLong();
        List<KillsSlot> slots = new ArrayList<>();
        List<Thread> senders = new ArrayList<>();
        try {
            for (int i = 0; i < processes; i++) {
                slots.add(new KillsSlot(settings, killsLeft, ledger, applicationsEnd));
            }
            for (int i = 0; i < processes * threads; i++) {
                Thread sender = new Thread(
                        new KillsSender(slots, nextNumber, ledger, Duration.ofMillis(lease), sendersEnd),
                        "sender-" + i);
                sender.start();
                senders.add(sender);
            }
            boolean inTime = loseAll(server, stopsLeft, slots, ledger, print);
            phase.set(1);
            for (Thread sender : senders) {
                sender.join();
            }
            return inTime;
        } finally {
            phase.set(2);
            for (KillsSlot slot : slots) {
                slot.end();
            }
        }
    }

    private boolean loseAll(
            @Nullable TestServer server,
            AtomicInteger stopsLeft,
            List<KillsSlot> slots,
            KillsLedger ledger,
            Print print)
            throws InterruptedException {
        long start = System.nanoTime();
        long shown = start;
        while (ledger.appKills() < appKills || ledger.serverLosses() < serverStops) {
            if (server != null && stopsLeft.getAndDecrement() > 0) {
                lose(server, ledger);
            } else {
                Thread.sleep(50);
            }
            long now = System.nanoTime();
            if (now - shown > PROGRESS.toNanos()) {
                shown = now;
                print.line(
                        "  after %.0f s: %,d kills, %,d losses of the server, %,d keys acknowledged",
                        (now - start) / 1e9,
                        ledger.appKills(),
                        ledger.serverLosses(),
                        ledger.acknowledged().size());
            }
            for (KillsSlot slot : slots) {
                Throwable failure = slot.failure();
                if (failure != null) {
                    throw new IllegalStateException("an application could not be run", failure);
                }
            }
            if (now - start > TimeUnit.MINUTES.toNanos(minutes)) {
                return false;
            }
        }
        return true;
    }

    /** Once it has worked for a moment. */
    private static void lose(TestServer server, KillsLedger ledger) throws InterruptedException {
        long before = ledger.counts().sum("acknowledged");
        long patience = System.nanoTime() + SLACK.toNanos() * 6;
        while (ledger.counts().sum("acknowledged") < before + 20 && System.nanoTime() < patience) {
            Thread.sleep(5);
        }
        Thread.sleep(ThreadLocalRandom.current().nextInt(50, 800));
        if (server instanceof RedisPair pair) {
            pair.awaitLinked();
        }
        ledger.lossBegins();
        long start = System.nanoTime();
        if (server instanceof PostgresqlServer postgresql) {
            postgresql.stopImmediately();
        } else {
            server.kill();
        }
        server.restart();
        ledger.serverLost(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }

    private void report(Service service, String run, KillsLedger ledger, boolean inTime, double seconds, Print print) {
        Counts counts = ledger.counts();
        KillsStored stored = KillsStored.of(service, ledger.acknowledged());
        print.line(
                "%,d keys acknowledged in %.0f s, and %,d repeats; sent again after: %s",
                ledger.acknowledged().size(), seconds, counts.get("acknowledged again"), counts.text("again "));
        if (ledger.serverLosses() > 0) {
            print.line(
                    "server down for %,d ms in all, at most %,d ms at once",
                    ledger.downMillis(), ledger.longestRestart());
        }
        if (store == StoreKind.LEASED || store == StoreKind.REDIS) {
            print.line(
                    "takeovers %,d at least; a refused key was acknowledged after %,d ms at most; a lease is %,d ms",
                    counts.get("takeovers"), ledger.longestInProgress(), lease);
            print.line(
                    "effects of holders that overran their leases, beside that of whoever took over: %,d",
                    stored.overridden());
        }
        print.check(inTime, String.format("done in %,d minutes", minutes));
        print.check(
                ledger.appKills() >= appKills && ledger.serverLosses() == serverStops,
                String.format("applications killed: %,d; server lost: %,d", ledger.appKills(), ledger.serverLosses()));
        print.check(
                counts.sum("wrong ") == 0,
                "wrong answers, and leases stuck beyond their time: " + counts.text("wrong "));
        if (redis.forgets()) {
            redis.explain(service, run, stored, ledger, print);
        } else {
            keptAll(stored, counts, print);
        }
        print.check(
                stored.unknown() == 0,
                String.format("stored and never acknowledged, although resent: %,d", stored.unknown()));
    }

    private static void keptAll(KillsStored stored, Counts counts, Print print) {
        print.check(
                counts.get("second reply") == 0,
                String.format("a second reply to one key: %,d", counts.get("second reply")));
        print.check(stored.lost() == 0, String.format("acknowledged and lost: %,d", stored.lost()));
        print.check(stored.twice() == 0, String.format("stored twice: %,d", stored.twice()));
        print.check(
                stored.other() == 0,
                String.format("acknowledged with another response than is stored: %,d", stored.other()));
    }
}
