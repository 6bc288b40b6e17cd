package dev.idempotency.jdbc;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.idempotency.testkit.servers.MariadbServer;
import dev.idempotency.testkit.servers.NotStarted;
import dev.idempotency.testkit.servers.PostgresqlServer;
import dev.idempotency.testkit.servers.PostgresqlServer.Version;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The databases that tests run on, and how each spells a table. A server is started by the first test that needs it; where
 * it can't be started, tests on it show as skipped. Whoever waits for a lock gives up after a second.
 */
enum TestDatabase {
    H2("bigint generated always as identity primary key", "varchar(%d)", "varchar", "varbinary(64)"),
    POSTGRESQL_14("bigint generated always as identity primary key", "varchar(%d)", "text", "bytea"),
    POSTGRESQL_17("bigint generated always as identity primary key", "varchar(%d)", "text", "bytea"),
    MARIADB(
            "bigint auto_increment primary key",
            "varchar(%d) character set utf8mb4 collate utf8mb4_nopad_bin",
            "longtext character set utf8mb4",
            "varbinary(64)"),
    /** As before, with innodb_snapshot_isolation: at REPEATABLE READ it refuses to touch what is newer than the snapshot. */
    MARIADB_SNAPSHOT(MARIADB.identity, MARIADB.key, MARIADB.text, MARIADB.bytes);

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final String identity;
    private final String key;
    private final String text;
    private final String bytes;

    TestDatabase(String identity, String key, String text, String bytes) {
        this.identity = identity;
        this.key = key;
        this.text = text;
        this.bytes = bytes;
    }

    /** SQL with this database's own types for {@code IDENTITY}, {@code KEY(n)}, {@code TEXT} and {@code BYTES}. */
    String sql(String template) {
        return template.replace("IDENTITY", identity)
                .replaceAll("KEY\\((\\d+)\\)", key.replace("%d", "$1"))
                .replace("TEXT", text)
                .replace("BYTES", bytes);
    }

    /** Types of columns that take different texts for one. */
    List<String> looseTypes() {
        return switch (this) {
            case H2 -> List.of("varchar_ignorecase");
            case POSTGRESQL_14, POSTGRESQL_17 -> List.of("citext", "caseless", "text collate loosely");
            // Even a binary collation, unless it says otherwise, takes "a" for "a ".
            case MARIADB, MARIADB_SNAPSHOT ->
                List.of("varchar(20)", "varchar(20) character set utf8mb4 collate utf8mb4_bin");
        };
    }

    /**
     * An empty database that no other test sees.
     *
     * @param parameters for the driver, as they stand in a URL
     */
    DataSource fresh(String... parameters) {
        String name = "test_" + NUMBER.incrementAndGet();
        StringBuilder more = new StringBuilder();
        for (String parameter : parameters) {
            more.append('&').append(parameter);
        }
        try {
            return switch (this) {
                case H2 -> h2("mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1000");
                case POSTGRESQL_14 -> postgresql(Version.V14, name, more);
                case POSTGRESQL_17 -> postgresql(Version.V17, name, more);
                case MARIADB -> mariadb(name, "OFF", more);
                case MARIADB_SNAPSHOT -> mariadb(name, "ON", more);
            };
        } catch (SQLException e) {
            throw new IllegalStateException("no database could be made on " + this, e);
        } catch (NotStarted e) {
            return abort(this + ": " + e);
        }
    }

    static DataSource h2(String database) {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + database);
        return dataSource;
    }

    private static DataSource postgresql(Version version, String name, CharSequence more) throws SQLException {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(PostgresqlServer.shared(version).url() + "&options=-c%20lock_timeout=1000&currentSchema="
                + name + ",public" + more);
        execute(dataSource, "create schema " + name);
        execute(dataSource, "create extension if not exists citext schema public; create domain caseless as citext");
        execute(
                dataSource,
                "create collation loosely (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        return dataSource;
    }

    private static DataSource mariadb(String name, String snapshotIsolation, CharSequence more) throws SQLException {
        MariadbServer server = MariadbServer.shared();
        execute(new MariaDbDataSource(server.url("")), "create database " + name + " character set utf8mb4");
        return new MariaDbDataSource(server.url(name)
                + "&sessionVariables=innodb_lock_wait_timeout=1,innodb_snapshot_isolation=" + snapshotIsolation + more);
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
