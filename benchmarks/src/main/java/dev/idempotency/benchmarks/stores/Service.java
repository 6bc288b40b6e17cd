package dev.idempotency.benchmarks.stores;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
            for (String table : List.of("message", "claim", "idempotency_record")) {
                execute(connection, "drop table if exists " + table);
            }
            execute(
                    connection,
                    target.sql("create table message (id IDENTITY, sender varchar(191) not null,"
                            + " message_id varchar(255) not null, body varchar(255) not null,"
                            + " unique (sender, message_id))"));
            execute(
                    connection,
                    target.sql("create table claim (idempotency_key BYTES not null primary key, response BYTES,"
                            + " created_at bigint not null)"));
        }
        Jdbi jdbi = Jdbi.create(pool);
        byHand = new ByHand(pool);
        JdbcStore<String> own = JdbcStores.yourTable(jdbi, Service::find);
        ownTable = Idempotency.with(own).build();
        windowed = Idempotency.with(own)
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();
        singleStatement = Idempotency.with(JdbcStores.yourTable(
                        jdbi, Service::find, YourTableOptions.defaults().singleStatement()))
                .build();
        transactional =
                Idempotency.with(JdbcStores.transactional(jdbi, Codec.utf8())).build();
        actionFirst = Idempotency.with(JdbcStores.transactional(
                        jdbi, Codec.utf8(), RecordTableOptions.defaults().actionFirst()))
                .build();
        for (int i = 0; i < Message.STORED; i++) {
            Message message = Message.stored(i);
            transactional.execute(message.request(), insert(message));
            windowed.execute(message.request(), insert(message));
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static Optional<Original<String>> find(Handle handle, IdempotencyKey key) {
        try {
            String response = ByHand.find(handle.getConnection(), new Message(key.scope(), key.id()));
            return Optional.of(new Original<>(key, response, null));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The work of an action, in plain JDBC as by hand. */
    static Action<Handle, String, SQLException> insert(Message message) {
        return handle -> {
            ByHand.insert(handle.getConnection(), message);
            return message.response();
        };
    }

    List<Outcome<String>> batch(Idempotency<Handle, String> sends, List<Message> messages, boolean doNothing)
            throws SQLException {
        Map<String, Message> byId = new LinkedHashMap<>();
        List<Request> requests = new ArrayList<>();
        for (Message message : messages) {
            byId.put(message.id(), message);
            requests.add(message.request());
        }
        BatchAction<Handle, String, SQLException> action = (handle, fresh) -> {
            List<Message> some = new ArrayList<>();
            for (Request request : fresh) {
                Message message = byId.get(Message.idOf(request));
                if (message != null) {
                    some.add(message);
                }
            }
            Set<String> stored = ByHand.insertAll(handle.getConnection(), some, doNothing);
            Map<Request, String> answers = new LinkedHashMap<>();
            for (Request request : fresh) {
                Message message = byId.get(Message.idOf(request));
                if (message != null && stored.contains(message.id())) {
                    answers.put(request, message.response());
                }
            }
            return answers;
        };
        return sends.executeAll(requests, action);
    }

    @Override
    public void close() {
        pool.close();
    }
}
