package dev.idempotency.benchmarks.stores;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.jdbc.JdbcStore;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.jdbc.RecordTableOptions;
import dev.idempotency.jdbc.YourTableOptions;
import dev.idempotency.window.CaffeineWindow;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** A service's table, its pool, and the ways to store a message in it. */
final class Service implements AutoCloseable {

    final ByHand byHand;
    final Idempotency<Handle, String> ownTable;
    final Idempotency<Handle, String> singleStatement;
    final Idempotency<Handle, String> transactional;
    final Idempotency<Handle, String> actionFirst;
    final Idempotency<Handle, String> windowed;
    final boolean doNothing;
    private final HikariDataSource pool;

    /** Messages stored in one go. */
    private static final int FILL = 100;

    Service(Target target, Target.Running database, int connections) throws SQLException {
        doNothing = target.isPostgresql();
        if (target == Target.MARIADB) {
            try (Connection connection = DriverManager.getConnection(database.adminUrl())) {
                execute(connection, "create database if not exists benchmark");
            }
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(connections);
        pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection()) {
            for (String table : List.of("claim", "idempotency_record")) {
                execute(connection, "drop table if exists " + table);
            }
            MessageTable.create(connection, target);
            execute(
                    connection,
                    target.sql("create table claim (idempotency_key BYTES not null primary key, response BYTES,"
                            + " created_at bigint not null, expires_at bigint not null)"));
            execute(connection, "create index claim_expires_at on claim (expires_at)");
        }
        Jdbi jdbi = Jdbi.create(pool);
        byHand = new ByHand(pool, jdbi);
        JdbcStore<String> own = JdbcStores.yourTable(jdbi, MessageTable.finder());
        ownTable = Idempotency.with(own).build();
        windowed = Idempotency.with(own)
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();
        singleStatement = Idempotency.with(JdbcStores.yourTable(
                        jdbi, MessageTable.finder(), YourTableOptions.defaults().singleStatement()))
                .build();
        transactional =
                Idempotency.with(JdbcStores.transactional(jdbi, Codec.utf8())).build();
        actionFirst = Idempotency.with(JdbcStores.transactional(
                        jdbi, Codec.utf8(), RecordTableOptions.defaults().actionFirst()))
                .build();
        for (int i = 0; i < Message.STORED; i += FILL) {
            List<Message> messages = IntStream.range(i, Math.min(i + FILL, Message.STORED))
                    .mapToObj(Message::stored)
                    .toList();
            MessageTable.executeAll(transactional, messages, false);
            MessageTable.executeAll(windowed, messages, doNothing);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
