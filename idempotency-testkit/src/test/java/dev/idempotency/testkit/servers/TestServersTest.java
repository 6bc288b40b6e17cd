package dev.idempotency.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers are lost in each way that they can be, and come back with all that was committed. */
class TestServersTest {

    private int rows;

    private static <S extends TestServer> S started(Supplier<S> start) {
        try {
            return start.get();
        } catch (NotStarted e) {
            return abort(e.toString());
        }
    }

    @Test
    @DisplayName("PostgreSQL flushes its commits, and keeps them through a stop, an immediate stop and a kill")
    void postgresql_keepsWhatIsCommitted() throws SQLException {
        try (PostgresqlServer server =
                started(() -> PostgresqlServer.start(PostgresqlServer.Version.V17, Durability.DURABLE))) {
            String url = server.url();
            assertThat(query(url, "show fsync")).isEqualTo("on");
            assertThat(query(url, "show synchronous_commit")).isEqualTo("on");
            assertThat(query(url, "show server_version")).startsWith("17.");
            execute(url, "create table kept (number int)");
            assertKept(server, url, server::stop);
            assertKept(server, url, server::stopImmediately);
            assertKept(server, url, server::kill);
            assertThatThrownBy(server::restart).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisplayName("MariaDB flushes its commits, and keeps them through a stop and a kill")
    void mariadb_keepsWhatIsCommitted() throws SQLException {
        try (MariadbServer server = started(() -> MariadbServer.start(Durability.DURABLE))) {
            assertThat(query(server.url(""), "select @@innodb_flush_log_at_trx_commit"))
                    .isEqualTo("1");
            execute(server.url(""), "create database kept");
            String url = server.url("kept");
            execute(url, "create table kept (number int)");
            assertKept(server, url, server::stop);
            assertKept(server, url, server::kill);
            assertThatThrownBy(server::restart).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisplayName("The shared PostgreSQL 14 is one server")
    void sharedServer_isOne() throws SQLException {
        PostgresqlServer server = started(() -> PostgresqlServer.shared(PostgresqlServer.Version.V14));
        assertThat(PostgresqlServer.shared(PostgresqlServer.Version.V14)).isSameAs(server);
        assertThat(query(server.url(), "show server_version")).startsWith("14.");
        assertThat(query(server.url(), "show fsync")).isEqualTo("off");
    }

    @Test
    @DisplayName("No binaries for this system: what did not start says why")
    void noBinaries_saysWhy(@TempDir Path empty) {
        String usual = System.getProperty(Binaries.FOLDER);
        System.setProperty(Binaries.FOLDER, empty.toString());
        try {
            assertThatThrownBy(() -> PostgresqlServer.start(PostgresqlServer.Version.V14, Durability.FAST))
                    .isInstanceOf(NotStarted.class)
                    .hasMessageContaining("postgresql-14.jar");
            assertThatThrownBy(() -> MariadbServer.start(Durability.FAST))
                    .isInstanceOf(NotStarted.class)
                    .hasMessageContaining("mariadb.jar");
        } finally {
            System.setProperty(Binaries.FOLDER, usual);
        }
    }

    private void assertKept(TestServer server, String url, Runnable loss) throws SQLException {
        execute(url, "insert into kept values (1)");
        rows++;
        loss.run();
        assertThatThrownBy(() -> query(url, "select 1")).isInstanceOf(SQLException.class);
        server.restart();
        assertThat(query(url, "select count(*) from kept")).isEqualTo("" + rows);
    }

    private static String query(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
