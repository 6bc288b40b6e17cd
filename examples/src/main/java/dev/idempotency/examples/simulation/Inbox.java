package dev.idempotency.examples.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.h2.jdbcx.JdbcConnectionPool;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlLogger;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * Ben's inbox: a table in an H2 database of its own, which is gone when this is closed. Up to {@value #MOST_IN_MEMORY}
 * messages are kept in memory, more in a file of the system's folder for temporary files.
 */
final class Inbox implements AutoCloseable {

    static final int MOST_IN_MEMORY = 100_000;

    static final List<List<String>> MESSAGE_KEY = List.of(List.of("sender", "message_id"));
    static final List<List<String>> BOTH_KEYS =
            List.of(List.of("sender", "message_id"), List.of("business_system", "business_id"));

    /** The business system that writes notices through its senders. */
    static final String BUSINESS_SYSTEM = "shop";

    private final JdbcConnectionPool pool;
    private final Jdbi jdbi;
    private final @Nullable Path folder;
    private final Thread deleteOnInterrupt = new Thread(this::delete);
    private final StatementCount statements = new StatementCount();

    private Inbox(String url, @Nullable Path folder) {
        this.pool = JdbcConnectionPool.create(url, "sa", "");
        this.jdbi = Jdbi.create(pool);
        this.folder = folder;
    }

    static boolean inMemory(int messages) {
        return messages <= MOST_IN_MEMORY;
    }

    static Inbox open(int messages, List<List<String>> uniqueKeys) {
        Inbox inbox;
        if (inMemory(messages)) {
            inbox = new Inbox("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", null);
        } else {
            try {
                Path folder = Files.createTempDirectory("idempotency-simulation");
                // Nobody needs this file after a crash, so H2 may write over its old chunks at once: it stays far
                // smaller.
                inbox = new Inbox(
                        "jdbc:h2:file:" + folder.resolve("inbox")
                                + ";DB_CLOSE_DELAY=-1;DB_CLOSE_ON_EXIT=FALSE;RETENTION_TIME=0",
                        folder);
            } catch (IOException e) {
                throw new UncheckedIOException("no folder for the database could be made", e);
            }
        }
        Runtime.getRuntime().addShutdownHook(inbox.deleteOnInterrupt);
        inbox.create(uniqueKeys);
        return inbox;
    }

    private void create(List<List<String>> uniqueKeys) {
        StringBuilder sql = new StringBuilder("CREATE TABLE message ("
                + "id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                + " sender VARCHAR(191) NOT NULL, message_id VARCHAR(255) NOT NULL,"
                + " business_system VARCHAR(191), business_id VARCHAR(255), text VARCHAR NOT NULL");
        uniqueKeys.forEach(columns ->
                sql.append(", UNIQUE (").append(String.join(", ", columns)).append(')'));
        jdbi.useHandle(handle -> handle.execute(sql.append(')').toString()));
        jdbi.setSqlLogger(statements);
    }

    Jdbi jdbi() {
        return jdbi;
    }

    /** The one statement that stores a message. Null business columns break no unique key. */
    static long insert(Handle handle, Message message) {
        return handle.createUpdate("INSERT INTO message (sender, message_id, business_system, business_id, text)"
                        + " VALUES (:sender, :messageId, :businessSystem, :businessId, :text)")
                .bind("sender", sender(message))
                .bind("messageId", message.id.toString())
                .bind("businessSystem", message.businessId == null ? null : BUSINESS_SYSTEM)
                .bind("businessId", message.businessId)
                .bind("text", message.text)
                .executeAndReturnGeneratedKeys("id")
                .mapTo(Long.class)
                .one();
    }

    static String sender(Message message) {
        return "sender-" + message.sender;
    }

    /** How many statements were run through this inbox so far; commits and rollbacks are not statements here. */
    long statements() {
        return statements.count;
    }

    /** How many rows there are; not counted as a statement. */
    long rows() {
        return Jdbi.create(pool)
                .withHandle(handle -> handle.createQuery("SELECT COUNT(*) FROM message")
                        .mapTo(Long.class)
                        .one());
    }

    @Override
    public void close() {
        try (var connection = pool.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("SHUTDOWN");
        } catch (SQLException e) {
            throw new IllegalStateException("the database did not shut down", e);
        } finally {
            pool.dispose();
            delete();
            Runtime.getRuntime().removeShutdownHook(deleteOnInterrupt);
        }
    }

    private void delete() {
        if (folder == null) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("the database could not be deleted", e);
        }
    }

    /** Counts statements that worked and those that failed; copies are received one after the other. */
    private static final class StatementCount implements SqlLogger {
        private long count;

        @Override
        public void logAfterExecution(StatementContext context) {
            count++;
        }

        @Override
        public void logException(StatementContext context, SQLException failure) {
            count++;
        }
    }
}
