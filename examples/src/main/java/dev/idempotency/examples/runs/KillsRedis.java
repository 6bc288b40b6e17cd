package dev.idempotency.examples.runs;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of kills for a Redis that may forget what it has said yes to: what it forgets is counted, and breaks no promise. */
final class KillsRedis implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    @Option(names = "--everysec", description = "Redis flushes once a second (appendfsync everysec), not always")
    private boolean everysec;

    @Option(names = "--failover", description = "Redis has a replica, which is promoted when the master is killed")
    private boolean failover;

    @Option(
            names = "--lag",
            paramLabel = "MS",
            description = "milliseconds until a replica hears of a write; default ${DEFAULT-VALUE}")
    private int lag = 20;

    @Option(
            names = "--confirmed-by",
            paramLabel = "N",
            description = "replicas that confirm claims and completions, 0 or 1; default ${DEFAULT-VALUE}")
    private int confirmedBy;

    private @Nullable RedisServer receiver;

    /** Whether something that was acknowledged may be forgotten. */
    boolean forgets() {
        return everysec || failover;
    }

    void check(StoreKind store) {
        if (forgets() && store != StoreKind.REDIS) {
            throw new IllegalArgumentException("--everysec and --failover are for --store redis");
        }
        if (everysec && failover) {
            throw new IllegalArgumentException("--everysec or --failover, not both at once");
        }
        Program.atLeast("--lag", lag, 0);
        if (confirmedBy < 0 || confirmedBy > (failover ? 1 : 0)) {
            throw new IllegalArgumentException("--confirmed-by is 0, or 1 with --failover");
        }
    }

    /** The server that these options ask for, if they ask for one. */
    @Nullable
    RunningDatabase start() {
        if (failover) {
            return RunningDatabase.redis(new RedisPair(lag));
        }
        return everysec
                ? RunningDatabase.redis(
                        RedisServer.start("--save", "", "--appendonly", "yes", "--appendfsync", "everysec"))
                : null;
    }

    /** The effects go to a Redis that is not lost: what becomes of them is not what is asked here. */
    ServiceSettings with(ServiceSettings settings) {
        if (!forgets()) {
            return settings;
        }
        receiver = RedisServer.start("--save", "");
        return settings.with(confirmedBy, "redis://127.0.0.1:" + receiver.port());
    }

    /** As it is printed. */
    @Override
    public String toString() {
        if (failover) {
            return "a replica " + lag + " ms behind is promoted, "
                    + (confirmedBy == 0 ? "no confirmation" : "which confirms claims and completions");
        }
        return everysec ? "flushed every second" : "commits flushed";
    }

    /**
     * What was forgotten, and why that is no surprise. Each key that was acknowledged is sent once more: what Redis has
     * forgotten is executed again.
     */
    void explain(Service service, String run, KillsStored stored, KillsLedger ledger, Print print) {
        long forgotten = 0;
        long afterAnExecution = 0;
        for (long number : ledger.acknowledged().keySet()) {
            if (executesAgain(service, Keys.request(run, number, 0), number)) {
                forgotten++;
                afterAnExecution += ledger.executed().containsKey(number) ? 1 : 0;
            }
        }
        print.line(
                "told    acknowledged and forgotten; losses of the server: %,d; keys: %,d of %,d, executed again when sent again",
                ledger.serverLosses(), forgotten, ledger.acknowledged().size());
        print.line(
                "        %,d of them were acknowledged to the call that executed, the others only to repeats",
                afterAnExecution);
        print.line(
                "        executed twice during the run, as a claim or a completion was forgotten: %,d", stored.twice());
        if (everysec) {
            print.line(
                    "        a killed process loses what it has not written to its file, which is little: the operating");
            print.line(
                    "        system has the rest. A loss of power, which is not shown, takes what is not flushed too");
        } else if (confirmedBy == 0) {
            print.line(
                    "        the master answers before its replica knows: what was under way when it died is forgotten");
        } else {
            print.line(
                    "        a replay is not waited for: a repeat may be told what the replica does not know yet, while");
            print.line(
                    "        the call that executed still waits. With more replicas, one that is behind may be promoted");
            // Some were forgotten and found out by a sender during the run; by the end they are known again.
            long onTheWay = ledger.counts().get("acknowledged as executed again");
            print.check(
                    afterAnExecution + onTheWay == 0,
                    String.format(
                            "confirmed, acknowledged to the executing call, forgotten: %,d in the end, %,d on the way",
                            afterAnExecution, onTheWay));
            print.check(
                    stored.twice() == 0,
                    String.format("executed twice although the first claim was confirmed: %,d", stored.twice()));
        }
    }

    private static boolean executesAgain(Service service, Request request, long number) {
        long began = System.nanoTime();
        while (true) {
            try {
                Outcome<String> outcome = service.send(request, new Effect(number, "sent again", Duration.ZERO));
                if (!(outcome instanceof InProgress)) {
                    return outcome instanceof Executed;
                }
            } catch (RetryableException e) {
                if (System.nanoTime() - began > PATIENCE) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void close() {
        if (receiver != null) {
            receiver.close();
        }
    }
}
