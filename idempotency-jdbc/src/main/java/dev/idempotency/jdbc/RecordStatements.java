package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Request;
import dev.idempotency.UnreadableRecordException;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the library's table. Times are microseconds since 1970 by the database's clock, taken in the statement
 * that needs them; on an embedded database the clock of this JVM is the store's own.
 */
final class RecordStatements {

    private final String[] insert = new String[Request.MAX_KEYS + 1];
    private final String[] complete = new String[Request.MAX_KEYS + 1];
    private final String[] select = new String[Request.MAX_KEYS + 1];
    private final String[] deleteExpired = new String[Request.MAX_KEYS + 1];
    private final boolean bindsClock;
    private final String insertCopy;
    private final String selectExpired;
    private final String deleteOneExpired;

    RecordStatements(TableName table, Dialect dialect) {
        String now = dialect.clock().now();
        bindsClock = dialect.clock().isBound();
        for (int keys = 1; keys <= Request.MAX_KEYS; keys++) {
            String in = "idempotency_key IN (" + repeated("?", keys) + ")";
            insert[keys] = "INSERT INTO " + table
                    + " (idempotency_key, record_id, fingerprint, created_at, expires_at) VALUES "
                    + repeated("(?, ?, ?, " + now + ", " + now + " + ?)", keys);
            complete[keys] = "UPDATE " + table + " SET response = ? WHERE record_id = ? AND " + in;
            select[keys] = "SELECT idempotency_key, record_id, fingerprint, response, expires_at - " + now + " FROM "
                    + table + " WHERE " + in;
            deleteExpired[keys] = "DELETE FROM " + table + " WHERE " + in + " AND expires_at <= " + now;
        }
        insertCopy = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, created_at, expires_at)"
                + " SELECT ?, record_id, fingerprint, response, created_at, expires_at FROM " + table
                + " WHERE idempotency_key = ? AND record_id = ? AND expires_at > " + now;
        // The inner SELECT lets PostgreSQL take the time once, and look into the index with it.
        selectExpired = "SELECT idempotency_key FROM " + table + " WHERE expires_at <= (SELECT " + now
                + ") ORDER BY expires_at" + dialect.firstRows() + " FOR UPDATE SKIP LOCKED";
        deleteOneExpired = "DELETE FROM " + table + " WHERE idempotency_key = ? AND expires_at <= " + now;
    }

    /** A row, still undecoded. Its payload is nobody else's, so that an array does no harm. */
    @SuppressWarnings("ArrayRecordComponent")
    record Row(UUID record, @Nullable Fingerprint fingerprint, byte @Nullable [] payload, Duration remaining) {}

    void insert(
            Connection connection,
            List<IdempotencyKey> keys,
            UUID record,
            @Nullable Fingerprint fingerprint,
            Duration retention)
            throws SQLException {
        byte[] recordId = bytes(record);
        try (PreparedStatement statement = connection.prepareStatement(insert[keys.size()])) {
            int i = 0;
            for (IdempotencyKey key : keys) {
                statement.setBytes(++i, key.toBytes());
                statement.setBytes(++i, recordId);
                statement.setBytes(++i, fingerprint == null ? null : fingerprint.toBytes());
                i = setClock(statement, i);
                i = setClock(statement, i);
                statement.setLong(++i, micros(retention));
            }
            statement.executeUpdate();
        }
    }

    int complete(Connection connection, List<IdempotencyKey> keys, UUID record, byte[] payload) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(complete[keys.size()])) {
            statement.setBytes(1, payload);
            statement.setBytes(2, bytes(record));
            setKeys(statement, 2, keys);
            return statement.executeUpdate();
        }
    }

    Map<IdempotencyKey, Row> select(Connection connection, List<IdempotencyKey> keys, boolean forUpdate)
            throws SQLException {
        Map<ByteBuffer, IdempotencyKey> asked = new LinkedHashMap<>();
        keys.forEach(key -> asked.put(ByteBuffer.wrap(key.toBytes()), key));
        String sql = select[keys.size()] + (forUpdate ? " FOR UPDATE" : "");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            setKeys(statement, setClock(statement, 0), keys);
            Map<IdempotencyKey, Row> rows = new LinkedHashMap<>();
            try (ResultSet results = statement.executeQuery()) {
                while (results.next()) {
                    IdempotencyKey key = asked.get(ByteBuffer.wrap(results.getBytes(1)));
                    Row row = row(results);
                    if (key != null && row.remaining().compareTo(Duration.ZERO) > 0) {
                        rows.put(key, row);
                    }
                }
            }
            return rows;
        }
    }

    void deleteExpired(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(deleteExpired[keys.size()])) {
            setClock(statement, setKeys(statement, 0, keys));
            statement.executeUpdate();
        }
    }

    /** Records a key as one more name of a record that another key has; 0 if that is there no more, or is replaced. */
    int insertCopy(Connection connection, IdempotencyKey key, IdempotencyKey of, UUID record) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insertCopy)) {
            statement.setBytes(1, key.toBytes());
            statement.setBytes(2, of.toBytes());
            statement.setBytes(3, bytes(record));
            setClock(statement, 3);
            return statement.executeUpdate();
        }
    }

    /** Removes up to so many expired rows, each checked again as it goes. */
    int purge(Connection connection, int batchSize) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(selectExpired);
                PreparedStatement delete = connection.prepareStatement(deleteOneExpired)) {
            select.setInt(setClock(select, 0) + 1, batchSize);
            try (ResultSet results = select.executeQuery()) {
                while (results.next()) {
                    delete.setBytes(1, results.getBytes(1));
                    setClock(delete, 1);
                    delete.addBatch();
                }
            }
            int removed = 0;
            for (int count : delete.executeBatch()) {
                removed += Math.max(0, count);
            }
            return removed;
        }
    }

    private static Row row(ResultSet results) throws SQLException {
        byte[] record = results.getBytes(2);
        byte[] fingerprint = results.getBytes(3);
        if (record == null
                || record.length != 16
                || (fingerprint != null && (fingerprint.length == 0 || fingerprint.length > Fingerprint.MAX_BYTES))) {
            throw new UnreadableRecordException("the record's identity or fingerprint is damaged", null);
        }
        return new Row(
                uuid(record),
                fingerprint == null ? null : Fingerprint.of(fingerprint),
                results.getBytes(4),
                Duration.of(results.getLong(5), ChronoUnit.MICROS));
    }

    private static int setKeys(PreparedStatement statement, int after, List<IdempotencyKey> keys) throws SQLException {
        int i = after;
        for (IdempotencyKey key : keys) {
            statement.setBytes(++i, key.toBytes());
        }
        return i;
    }

    private int setClock(PreparedStatement statement, int after) throws SQLException {
        if (!bindsClock) {
            return after;
        }
        statement.setLong(after + 1, ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
        return after + 1;
    }

    private static long micros(Duration duration) {
        return duration.toSeconds() * 1_000_000L + duration.toNanosPart() / 1_000;
    }

    private static byte[] bytes(UUID id) {
        return ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
    }

    private static UUID uuid(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    private static String repeated(String what, int times) {
        return String.join(", ", Collections.nCopies(times, what));
    }
}
