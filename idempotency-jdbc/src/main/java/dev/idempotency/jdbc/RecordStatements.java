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
 * The statements on the library's table. Times are microseconds since 1970, taken when the statement is sent: on an
 * embedded database the clock of this JVM is the store's own.
 */
final class RecordStatements {

    private final String[] insert = new String[Request.MAX_KEYS + 1];
    private final String[] complete = new String[Request.MAX_KEYS + 1];
    private final String[] select = new String[Request.MAX_KEYS + 1];
    private final String[] deleteExpired = new String[Request.MAX_KEYS + 1];
    private final String insertCopy;
    private final String selectExpired;
    private final String deleteOneExpired;

    RecordStatements(TableName table, Dialect dialect) {
        for (int keys = 1; keys <= Request.MAX_KEYS; keys++) {
            String in = "idempotency_key IN (" + repeated("?", keys) + ")";
            insert[keys] = "INSERT INTO " + table
                    + " (idempotency_key, record_id, fingerprint, created_at, expires_at) VALUES "
                    + repeated("(?, ?, ?, ?, ?)", keys);
            complete[keys] = "UPDATE " + table + " SET response = ? WHERE record_id = ? AND " + in;
            select[keys] = "SELECT idempotency_key, record_id, fingerprint, response, expires_at FROM " + table
                    + " WHERE " + in + " AND expires_at > ?";
            deleteExpired[keys] = "DELETE FROM " + table + " WHERE " + in + " AND expires_at <= ?";
        }
        insertCopy = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, created_at, expires_at)"
                + " SELECT ?, record_id, fingerprint, response, created_at, expires_at FROM " + table
                + " WHERE idempotency_key = ? AND record_id = ? AND expires_at > ?";
        selectExpired = "SELECT idempotency_key FROM " + table + " WHERE expires_at <= ? ORDER BY expires_at"
                + " FETCH FIRST ? ROWS ONLY" + dialect.skipLocked();
        deleteOneExpired = "DELETE FROM " + table + " WHERE idempotency_key = ? AND expires_at <= ?";
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
        long now = now();
        long expires = now + micros(retention);
        try (PreparedStatement statement = connection.prepareStatement(insert[keys.size()])) {
            int i = 0;
            for (IdempotencyKey key : keys) {
                statement.setBytes(++i, key.toBytes());
                statement.setBytes(++i, recordId);
                statement.setBytes(++i, fingerprint == null ? null : fingerprint.toBytes());
                statement.setLong(++i, now);
                statement.setLong(++i, expires);
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
            int i = setKeys(statement, 0, keys);
            long now = now();
            statement.setLong(i + 1, now);
            Map<IdempotencyKey, Row> rows = new LinkedHashMap<>();
            try (ResultSet results = statement.executeQuery()) {
                while (results.next()) {
                    IdempotencyKey key = asked.get(ByteBuffer.wrap(results.getBytes(1)));
                    if (key != null) {
                        rows.put(key, row(results, now));
                    }
                }
            }
            return rows;
        }
    }

    void deleteExpired(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(deleteExpired[keys.size()])) {
            int i = setKeys(statement, 0, keys);
            statement.setLong(i + 1, now());
            statement.executeUpdate();
        }
    }

    /** Records a key as one more name of a record that another key has; 0 if that is there no more, or is replaced. */
    int insertCopy(Connection connection, IdempotencyKey key, IdempotencyKey of, UUID record) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insertCopy)) {
            statement.setBytes(1, key.toBytes());
            statement.setBytes(2, of.toBytes());
            statement.setBytes(3, bytes(record));
            statement.setLong(4, now());
            return statement.executeUpdate();
        }
    }

    /** Removes up to so many expired rows, each checked again as it goes. */
    int purge(Connection connection, int batchSize) throws SQLException {
        long now = now();
        try (PreparedStatement select = connection.prepareStatement(selectExpired);
                PreparedStatement delete = connection.prepareStatement(deleteOneExpired)) {
            select.setLong(1, now);
            select.setInt(2, batchSize);
            try (ResultSet results = select.executeQuery()) {
                while (results.next()) {
                    delete.setBytes(1, results.getBytes(1));
                    delete.setLong(2, now);
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

    private static Row row(ResultSet results, long now) throws SQLException {
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
                Duration.of(results.getLong(5) - now, ChronoUnit.MICROS));
    }

    private static int setKeys(PreparedStatement statement, int after, List<IdempotencyKey> keys) throws SQLException {
        int i = after;
        for (IdempotencyKey key : keys) {
            statement.setBytes(++i, key.toBytes());
        }
        return i;
    }

    private static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
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
