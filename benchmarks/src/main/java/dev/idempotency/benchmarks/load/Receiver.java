package dev.idempotency.benchmarks.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Window;
import dev.idempotency.benchmarks.stores.Message;
import dev.idempotency.benchmarks.stores.MessageTable;
import dev.idempotency.benchmarks.stores.Target;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.jdbc.YourTableOptions;
import dev.idempotency.window.CaffeineWindow;
import dev.idempotency.window.CompactWindow;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** The service that receives messages: its own table, which begins empty, a pool of 8 connections, and a window. */
final class Receiver implements AutoCloseable {

    private static final int CONNECTIONS = 8;

    private final Target target;
    private final HikariDataSource pool;
    private final Idempotency<Handle, String> sends;

    /** Which window. */
    enum Kind {
        /** Objects in a Caffeine cache. */
        CAFFEINE,
        /** Bytes in arrays. */
        COMPACT,
        /** No window at all. */
        NONE;

        private Window.@Nullable Spec lasting(Duration time) {
            return switch (this) {
                case CAFFEINE -> CaffeineWindow.lasting(time);
                case COMPACT -> CompactWindow.lasting(time, Codec.utf8());
                case NONE -> null;
            };
        }
    }

    Receiver(Target target, Target.Running database, boolean singleStatement, Kind kind, Duration windowTime)
            throws SQLException {
        this.target = target;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(CONNECTIONS);
        pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection()) {
            MessageTable.create(connection, target);
        }
        YourTableOptions options = YourTableOptions.defaults();
        Idempotency.Builder<Handle, String> builder = Idempotency.with(JdbcStores.yourTable(
                Jdbi.create(pool), MessageTable.finder(), singleStatement ? options.singleStatement() : options));
        Window.Spec window = kind.lasting(windowTime);
        sends = (window == null ? builder : builder.window(window)).build();
    }

    Outcome<String> receive(Message message) throws SQLException {
        return sends.execute(message.request(), MessageTable.insert(message));
    }

    List<Outcome<String>> receive(List<Message> messages) throws SQLException {
        return MessageTable.executeAll(sends, messages, target.isPostgresql());
    }

    void settle() throws SQLException {
        if (target.isPostgresql()) {
            execute("vacuum analyze message");
            execute("checkpoint");
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    long number(String query) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    long rows() throws SQLException {
        return number("select count(*) from message");
    }

    /** The bytes of the table's rows or of its indexes; 0 where the database isn't asked. */
    long bytes(boolean indexes) throws SQLException {
        return target.isPostgresql()
                ? number("select " + (indexes ? "pg_indexes_size" : "pg_table_size") + "('message')")
                : 0;
    }

    @Override
    public void close() {
        pool.close();
    }
}
