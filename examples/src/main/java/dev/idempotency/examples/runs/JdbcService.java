package dev.idempotency.examples.runs;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Window;
import dev.idempotency.window.CaffeineWindow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jdbi.v3.core.Jdbi;

/** What the services in a database share: a pool, and a table of effects. */
abstract class JdbcService implements Service {

    /** A table that refuses nothing, so that what is stored twice shows. */
    static final String EFFECTS = "run_effect";

    static final String CREATE_EFFECTS =
            "create table if not exists run_effect (run KEY_TYPE not null, number bigint not"
                    + " null, response TEXT_TYPE not null)";
    static final String INDEX_EFFECTS = "create index if not exists run_effect_number on run_effect (run, number)";

    private static final int FETCH = 1_000;

    final ServiceSettings settings;
    final HikariDataSource pool;
    final Jdbi jdbi;
    private final String table;

    /** Creates the table by these statements, if it is not there. */
    JdbcService(ServiceSettings settings, String table, String... statements) {
        this.settings = settings;
        this.table = table;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(settings.url());
        config.setMaximumPoolSize(settings.pool());
        config.setConnectionTimeout(10_000);
        config.setInitializationFailTimeout(-1);
        pool = new HikariDataSource(config);
        jdbi = Jdbi.create(pool);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(settings.database().sql(sql));
            }
        } catch (SQLException e) {
            pool.close();
            throw new IllegalStateException("the table of effects could not be created", e);
        }
    }

    <C> Idempotency<C, String> front(IdempotencyStore<C, String> store) {
        Idempotency.Builder<C, String> builder = Idempotency.with(store);
        return settings.window() ? builder.window(nearWindow()).build() : builder.build();
    }

    /** Each process's own. */
    static Window.Spec nearWindow() {
        return CaffeineWindow.lasting(Duration.ofSeconds(32));
    }

    @Override
    public void effects(Reader reader) {
        try (Connection connection = pool.getConnection()) {
            // PostgreSQL's driver reads row by row in a transaction only.
            connection.setAutoCommit(false);
            try (PreparedStatement query =
                    connection.prepareStatement("select number, response from " + table + " where run = ?")) {
                query.setFetchSize(FETCH);
                query.setString(1, settings.run());
                try (ResultSet rows = query.executeQuery()) {
                    while (rows.next()) {
                        reader.effect(rows.getLong(1), rows.getString(2));
                    }
                }
            }
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException("the effects could not be read", e);
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
