package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.Durability;
import java.util.UUID;
import picocli.CommandLine.Option;

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
