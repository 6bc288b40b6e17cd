package dev.idempotency.benchmarks.stores;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** The same work without the library: plain JDBC, as a careful developer writes it. */
final class ByHand {

    static final String INSERT = "insert into message (sender, message_id, body) values (?, ?, ?)";
    static final String FIND = "select id, message_id from message where sender = ? and message_id = ?";

    /** For how long a key table by hand keeps its rows: as long as the library does unless told otherwise. */
    private static final long RETENTION = Duration.ofDays(7).toMillis();

    private final DataSource pool;
    private final Jdbi jdbi;

    ByHand(DataSource pool, Jdbi jdbi) {
        this.pool = pool;
        this.jdbi = jdbi;
    }

    static void insert(Connection connection, Message message) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setString(1, message.sender());
            statement.setString(2, message.id());
            statement.setString(3, message.body());
            statement.executeUpdate();
        }
    }

    static String find(Connection connection, Message message) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND)) {
            statement.setString(1, message.sender());
            statement.setString(2, message.id());
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    throw new IllegalStateException("no row");
                }
                return rows.getString(2).substring(0, 16);
            }
        }
    }

    String transaction(Message message) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            insert(connection, message);
            connection.commit();
            connection.setAutoCommit(true);
            return message.response();
        }
    }

    String autocommit(Message message) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            insert(connection, message);
            return message.response();
        }
    }

    /** As {@link #autocommit}, in a handle of Jdbi, which is what an action of the library is given. */
    String handle(Message message) throws SQLException {
        jdbi.useHandle(handle -> insert(handle.getConnection(), message));
        return message.response();
    }

    /** A key table of its own, which can be purged: claim, work, completion. */
    String claimFirst(Message message) throws SQLException {
        byte[] key = key(message);
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement claim = connection.prepareStatement(
                    "insert into claim (idempotency_key, created_at, expires_at) values (?, ?, ?)")) {
                long now = System.currentTimeMillis();
                claim.setBytes(1, key);
                claim.setLong(2, now);
                claim.setLong(3, now + RETENTION);
                claim.executeUpdate();
            }
            insert(connection, message);
            try (PreparedStatement complete =
                    connection.prepareStatement("update claim set response = ? where idempotency_key = ?")) {
                complete.setBytes(1, message.response().getBytes(StandardCharsets.UTF_8));
                complete.setBytes(2, key);
                complete.executeUpdate();
            }
            connection.commit();
            connection.setAutoCommit(true);
            return message.response();
        }
    }

    String repeat(Message message) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try {
                insert(connection, message);
                throw new IllegalStateException("not a repeat");
            } catch (SQLException refused) {
                connection.rollback();
            }
            connection.setAutoCommit(true);
            return find(connection, message);
        }
    }

    /** One statement and one commit for all of them. */
    int batch(List<Message> messages, boolean doNothing) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Set<String> stored = insertAll(connection, messages, doNothing);
            connection.commit();
            connection.setAutoCommit(true);
            return stored.size();
        }
    }

    /** With a key table of its own: the messages' rows and then those of the keys, with their responses, and one commit. */
    int batchWithKeys(List<Message> messages) throws SQLException {
        String sql = "insert into claim (idempotency_key, response, created_at, expires_at) values "
                + String.join(", ", Collections.nCopies(messages.size(), "(?, ?, ?, ?)"));
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Set<String> stored = insertAll(connection, messages, false);
            try (PreparedStatement keys = connection.prepareStatement(sql)) {
                long now = System.currentTimeMillis();
                int i = 0;
                for (Message message : messages) {
                    keys.setBytes(++i, key(message));
                    keys.setBytes(++i, message.response().getBytes(StandardCharsets.UTF_8));
                    keys.setLong(++i, now);
                    keys.setLong(++i, now + RETENTION);
                }
                keys.executeUpdate();
            }
            connection.commit();
            connection.setAutoCommit(true);
            return stored.size();
        }
    }

    private static byte[] key(Message message) {
        return ("im\0" + message.sender() + "\0" + message.id()).getBytes(StandardCharsets.UTF_8);
    }

    /** The IDs that were not there before. */
    static Set<String> insertAll(Connection connection, List<Message> messages, boolean doNothing) throws SQLException {
        String sql = "insert into message (sender, message_id, body) values "
                + String.join(", ", Collections.nCopies(messages.size(), "(?, ?, ?)"))
                + (doNothing ? " on conflict do nothing returning message_id" : "");
        Set<String> stored = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int i = 0;
            for (Message message : messages) {
                statement.setString(++i, message.sender());
                statement.setString(++i, message.id());
                statement.setString(++i, message.body());
            }
            if (!doNothing) {
                statement.executeUpdate();
                messages.forEach(message -> stored.add(message.id()));
                return stored;
            }
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    stored.add(rows.getString(1));
                }
            }
        }
        return stored;
    }
}
