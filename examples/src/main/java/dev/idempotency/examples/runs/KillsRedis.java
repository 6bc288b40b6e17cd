package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.RedisServer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of kills for a Redis that may forget what it has said yes to: what it forgets is counted, and breaks no promise. */
final class KillsRedis {

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

    ServiceSettings with(ServiceSettings settings) {
        return settings.confirmedBy(confirmedBy);
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

    /** What was forgotten, and why that is no surprise. */
    void explain(KillsStored stored, KillsLedger ledger, Print print) {
        long executedAgain = stored.other() + stored.twice();
        print.line(
                "told    acknowledged and forgotten: %,d of %,d keys, in %,d losses of the server",
                stored.lost() + executedAgain, ledger.acknowledged().size(), ledger.serverLosses());
        print.line(
                "        executed again, as they were sent again: %,d; would be, if they were sent again: %,d",
                executedAgain, stored.lost());
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
                    "        a replay is not waited for: a sender may be told what the replica does not know yet, while");
            print.line("        whoever executed it still waits. With more replicas another one may be promoted");
        }
    }
}
