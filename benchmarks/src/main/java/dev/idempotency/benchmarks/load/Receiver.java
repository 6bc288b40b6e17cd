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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** The service that receives messages: its own table, which begins empty, a pool of 8 connections, and a window. */
final class Receiver implements AutoCloseable {

    private static final int CONNECTIONS = 8;
    private static final int FILL = 1_000;

    /** Table, index, log, and what sorting takes. */
    private static final long BYTES_A_ROW = 700;

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

    /** Stores messages by their numbers as fast as it goes. */
    void fill(long from, long to, LongFunction<Message> messages, int fillFactor) throws SQLException {
        if (from >= to) {
            return;
        }
        if (target.isPostgresql()) {
            refuseIfFull(to - from);
            load(from, to, messages, fillFactor);
            return;
        }
        for (long first = from; first < to; first += FILL) {
            receive(LongStream.range(first, Math.min(first + FILL, to))
                    .mapToObj(messages)
                    .toList());
        }
    }

    private void refuseIfFull(long rows) throws SQLException {
        try {
            long usable =
                    Files.getFileStore(Path.of(text("show data_directory"))).getUsableSpace();
            if (usable < rows * BYTES_A_ROW) {
                throw new IllegalStateException(rows + " rows take up to " + rows * BYTES_A_ROW + " bytes on disk, and "
                        + usable + " are free");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void load(long from, long to, LongFunction<Message> messages, int fillFactor) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                PreparedStatement insert = connection.prepareStatement("insert into message (sender, message_id, body)"
                        + " select sender, id, ? from unnest(?, ?) as given (sender, id)")) {
            statement.execute("alter table message drop constraint message_sender_message_id_key");
            connection.setAutoCommit(false);
            for (long first = from; first < to; first += FILL) {
                List<Message> some = LongStream.range(first, Math.min(first + FILL, to))
                        .mapToObj(messages)
                        .toList();
                insert.setArray(
                        2,
                        connection.createArrayOf(
                                "text", some.stream().map(Message::sender).toArray()));
                insert.setArray(
                        3,
                        connection.createArrayOf(
                                "text", some.stream().map(Message::id).toArray()));
                insert.setString(1, some.get(0).body());
                insert.executeUpdate();
            }
            connection.commit();
            connection.setAutoCommit(true);
            statement.execute("set maintenance_work_mem = '512MB'");
            statement.execute(
                    "alter table message add unique (sender, message_id) with (fillfactor = " + fillFactor + ")");
            statement.execute("reset maintenance_work_mem");
        }
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

    private long number(String query) throws SQLException {
        return Long.parseLong(text(query));
    }

    private String text(String query) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
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
