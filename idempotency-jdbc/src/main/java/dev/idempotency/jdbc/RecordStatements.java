package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Request;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
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
    private final RecordRows rows;
    private final Clock clock;
    private final String[] deleteExpired = new String[Request.MAX_KEYS + 1];
    private final String insertCopy;
    private final String selectExpired;
    private final String deleteOneExpired;

    RecordStatements(TableName table, Dialect dialect) {
        clock = dialect.clock();
        rows = new RecordRows(table, clock);
        String now = clock.now();
        for (int keys = 1; keys <= Request.MAX_KEYS; keys++) {
            String in = "idempotency_key IN (" + repeated("?", keys) + ")";
            insert[keys] = "INSERT INTO " + table
                    + " (idempotency_key, record_id, fingerprint, created_at, expires_at) VALUES "
                    + repeated("(?, ?, ?, " + now + ", " + now + " + ?)", keys);
            complete[keys] = "UPDATE " + table + " SET response = ? WHERE record_id = ? AND " + in;
            deleteExpired[keys] = "DELETE FROM " + table + " WHERE " + in + " AND expires_at <= " + now;
        }
        insertCopy = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, owner, token, lease_until, created_at,"
                + " expires_at) SELECT ?, record_id, fingerprint, response, owner, token, lease_until, created_at,"
                + " expires_at FROM " + table
                + " WHERE idempotency_key = ? AND record_id = ? AND expires_at > " + now;
        // The time of one moment, with which the database can look into the index.
        selectExpired = "SELECT idempotency_key FROM " + table + " WHERE expires_at <= " + clock.once()
                + " ORDER BY expires_at" + dialect.firstRows() + " FOR UPDATE SKIP LOCKED";
        deleteOneExpired = "DELETE FROM " + table + " WHERE idempotency_key = ? AND expires_at <= " + now;
    }

    void insert(
            Connection connection,
            List<IdempotencyKey> keys,
            UUID record,
            @Nullable Fingerprint fingerprint,
            Duration retention)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insert[keys.size()])) {
            Parameters parameters = new Parameters(statement, clock);
            for (IdempotencyKey key : keys) {
                parameters
                        .key(key)
                        .id(record)
                        .fingerprint(fingerprint)
                        .now()
                        .now()
                        .micros(retention);
            }
            statement.executeUpdate();
        }
    }

    int complete(Connection connection, List<IdempotencyKey> keys, UUID record, byte[] payload) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(complete[keys.size()])) {
            new Parameters(statement, clock).bytes(payload).id(record).keys(keys);
            return statement.executeUpdate();
        }
    }

    /** Rows under these keys that count. */
    Map<IdempotencyKey, RecordRow> select(Connection connection, List<IdempotencyKey> keys, boolean forUpdate)
            throws SQLException {
        Map<IdempotencyKey, RecordRow> found = rows.select(connection, keys, forUpdate);
        found.values().removeIf(row -> !row.isLive());
        return found;
    }

    void deleteExpired(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(deleteExpired[keys.size()])) {
            new Parameters(statement, clock).keys(keys).now();
            statement.executeUpdate();
        }
    }

    /** Records a key as one more name of a record that another key has; 0 if that is there no more, or is replaced. */
    int insertCopy(Connection connection, IdempotencyKey key, IdempotencyKey of, UUID record) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insertCopy)) {
            new Parameters(statement, clock).key(key).key(of).id(record).now();
            return statement.executeUpdate();
        }
    }

    /** Removes up to so many expired rows, each checked again as it goes. */
    int purge(Connection connection, int batchSize) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(selectExpired);
                PreparedStatement delete = connection.prepareStatement(deleteOneExpired)) {
            new Parameters(select, clock).now().number(batchSize);
            try (ResultSet results = select.executeQuery()) {
                while (results.next()) {
                    new Parameters(delete, clock).bytes(results.getBytes(1)).now();
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

    static String repeated(String what, int times) {
        return String.join(", ", Collections.nCopies(times, what));
    }
}
