package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.Durability;
import java.util.UUID;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options that the runs share: which database, and where. */
final class DatabaseOptions {

    @Option(names = "--database", paramLabel = "D", description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}")
    DatabaseKind database = DatabaseKind.POSTGRESQL;

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "JDBC URL of a database that is there already; otherwise a server is started for the run")
    String url = "";

    @Option(
            names = "--no-fsync",
            description =
                    "the server that is started does not flush its commits: faster, and tells nothing of durability")
    boolean fast;

    /** Refuses a database that the store can't be in, and a URL that is not of that database. */
    void check(StoreKind store, CommandSpec spec) {
        if ((store == StoreKind.REDIS) != database.isRedis()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "the store " + store + " can't be in " + database
                            + ": redis goes with --database redis or redis-cluster, and every other store with neither");
        }
        if (!url.isEmpty() && url.startsWith("redis://") != database.isRedis()) {
            throw new ParameterException(spec.commandLine(), "--url " + url + " is not one of " + database);
        }
    }

    /** What a commit means there, as far as this program knows. */
    String durability() {
        if (!url.isEmpty()) {
            return "a database that was there";
        }
        return database == DatabaseKind.H2 ? "in memory" : fast ? "no fsync" : "fsync on";
    }

    RunningDatabase open() {
        return url.isEmpty()
                ? RunningDatabase.start(database, fast ? Durability.FAST : Durability.DURABLE)
                : RunningDatabase.existing(url);
    }

    /** Sets this run's keys apart. */
    static String newRun() {
        return UUID.randomUUID().toString().substring(0, 8);
    }
}
