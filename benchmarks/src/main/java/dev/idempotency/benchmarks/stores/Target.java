package dev.idempotency.benchmarks.stores;

import dev.idempotency.benchmarks.Results;
import dev.idempotency.testkit.servers.Durability;
import dev.idempotency.testkit.servers.MariadbServer;
import dev.idempotency.testkit.servers.PostgresqlServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;

/** A database to measure on. */
public enum Target {
    /** PostgreSQL 14 that flushes nothing, so that what the client does counts most. */
    POSTGRESQL_FAST("bytea"),
    /** PostgreSQL 14 with fsync on. */
    POSTGRESQL("bytea"),
    /** MariaDB that flushes at each commit. */
    MARIADB("varbinary(512)"),
    /** H2 in this process's memory. */
    H2("varbinary(512)");

    private final String bytes;

    Target(String bytes) {
        this.bytes = bytes;
    }

    /**
     * Whether it is PostgreSQL, which knows {@code ON CONFLICT DO NOTHING} and has commands of its own.
     *
     * @return whether it is
     */
    public boolean isPostgresql() {
        return this == POSTGRESQL || this == POSTGRESQL_FAST;
    }

    /** SQL with this database's type for BYTES, and with one for a primary key that counts up for IDENTITY. */
    String sql(String template) {
        return template.replace("BYTES", bytes)
                .replace(
                        "IDENTITY",
                        this == MARIADB
                                ? "bigint auto_increment primary key"
                                : "bigint generated always as identity primary key");
    }

    /**
     * Starts it, and notes its version.
     *
     * @return the database, which takes connections
     * @throws IOException if results can't be written
     * @throws SQLException if it does not answer
     */
    public Running start() throws IOException, SQLException {
        Running running = started();
        try (Connection connection = DriverManager.getConnection(running.adminUrl())) {
            DatabaseMetaData about = connection.getMetaData();
            Results.note(
                    name(),
                    about.getDatabaseProductName() + " " + about.getDatabaseProductVersion() + ", driver "
                            + about.getDriverVersion());
        }
        return running;
    }

    private Running started() {
        return switch (this) {
            case POSTGRESQL_FAST -> postgresql(Durability.FAST);
            case POSTGRESQL -> postgresql(Durability.DURABLE);
            case MARIADB -> {
                MariadbServer server = MariadbServer.start(Durability.DURABLE);
                yield new Running(
                        server.url("") + "&createDatabaseIfNotExist=true", server.url("benchmark"), server::close);
            }
            case H2 -> {
                String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
                yield new Running(url, url, () -> {});
            }
        };
    }

    private static Running postgresql(Durability durability) {
        PostgresqlServer server = PostgresqlServer.start(PostgresqlServer.Version.V14, durability);
        // As the library advises, and for both sides alike.
        String url = server.url() + "&options=-c%20lock_timeout=5000";
        return new Running(url, url, server::close);
    }

    /**
     * A database that takes connections.
     *
     * @param adminUrl where databases are made
     * @param url where messages go
     * @param end what ends it
     */
    public record Running(String adminUrl, String url, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }
}
