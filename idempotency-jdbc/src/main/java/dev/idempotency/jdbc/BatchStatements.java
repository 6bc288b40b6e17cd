package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The statements on the library's table that take any number of rows. */
final class BatchStatements {

    /** A statement of more rows is hardly faster, and databases bound the number of parameters. */
    private static final int MOST_ROWS = 500;

    /** Well below what MariaDB takes in one packet by default. */
    private static final int MOST_BYTES = 1 << 20;

    private final String insert;
    private final String row;
    private final String insertArrays;
    private final boolean takesArrays;
    private final String delete;
    private final String expired;
    private final RecordRows rows;
    private final Clock clock;

    /** One column of many rows. */
    private static final String BYTES = "CAST(? AS BYTEA[])";

    BatchStatements(TableName table, Dialect dialect) {
        clock = dialect.clock();
        rows = new RecordRows(table, clock);
        insert = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, created_at, expires_at) VALUES ";
        row = "(?, ?, ?, ?, " + clock.now() + ", " + clock.now() + " + ?)";
        takesArrays = dialect.takesArrays();
        insertArrays = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, created_at, expires_at) SELECT r.*, "
                + clock.once() + ", " + clock.once() + " + ? FROM UNNEST(" + BYTES + ", " + BYTES + ", " + BYTES + ", "
                + BYTES + ") r";
        delete = "DELETE FROM " + table + " WHERE idempotency_key IN (";
        expired = ") AND expires_at <= " + clock.now();
    }

    /** A row to insert; its payload is not changed afterwards. */
    @SuppressWarnings("ArrayRecordComponent")
    record Complete(
            IdempotencyKey key, UUID record, @Nullable Fingerprint fingerprint, byte[] payload) {}

    void insert(Connection connection, List<Complete> rows, Duration retention) throws SQLException {
        int from = 0;
        while (from < rows.size()) {
            int to = from;
            long bytes = 0;
            do {
                bytes += rows.get(to++).payload().length;
            } while (to < rows.size()
                    && to - from < MOST_ROWS
                    && bytes + rows.get(to).payload().length <= MOST_BYTES);
            if (takesArrays) {
                insertArrays(connection, rows.subList(from, to), retention);
            } else {
                insertOnce(connection, rows.subList(from, to), retention);
            }
            from = to;
        }
    }

    private void insertOnce(Connection connection, List<Complete> rows, Duration retention) throws SQLException {
        String sql = insert + RecordStatements.repeated(row, rows.size());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Parameters parameters = new Parameters(statement, clock);
            for (Complete row : rows) {
                parameters
                        .key(row.key())
                        .id(row.record())
                        .fingerprint(row.fingerprint())
                        .bytes(row.payload())
                        .now()
                        .now()
                        .micros(retention);
            }
            statement.executeUpdate();
        }
    }

    /**
     * The rows in the order of the list, as arrays are unnested. The clock is read once, and the text is the same for any
     * number of rows, so that the driver prepares it once.
     */
    private void insertArrays(Connection connection, List<Complete> rows, Duration retention) throws SQLException {
        byte[][] keys = new byte[rows.size()][];
        byte[][] records = new byte[rows.size()][];
        byte[] @Nullable [] fingerprints = new byte[rows.size()] @Nullable [];
        byte[][] payloads = new byte[rows.size()][];
        for (int i = 0; i < rows.size(); i++) {
            Complete row = rows.get(i);
            keys[i] = row.key().toBytes();
            records[i] = Parameters.bytes(row.record());
            fingerprints[i] = Parameters.bytes(row.fingerprint());
            payloads[i] = row.payload();
        }
        try (PreparedStatement statement = connection.prepareStatement(insertArrays)) {
            new Parameters(statement, clock)
                    .micros(retention)
                    .column(keys)
                    .column(records)
                    .column(fingerprints)
                    .column(payloads);
            statement.executeUpdate();
        }
    }

    /** Rows under these keys that count. */
    Map<IdempotencyKey, RecordRow> select(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        Map<IdempotencyKey, RecordRow> found = new HashMap<>();
        for (int from = 0; from < keys.size(); from += MOST_ROWS) {
            found.putAll(rows.select(connection, some(keys, from), false));
        }
        found.values().removeIf(row -> !row.isLive());
        return found;
    }

    void deleteExpired(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        for (int from = 0; from < keys.size(); from += MOST_ROWS) {
            List<IdempotencyKey> some = some(keys, from);
            String sql = delete + RecordStatements.repeated("?", some.size()) + expired;
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                new Parameters(statement, clock).keys(some).now();
                statement.executeUpdate();
            }
        }
    }

    private static List<IdempotencyKey> some(List<IdempotencyKey> keys, int from) {
        return keys.subList(from, Math.min(keys.size(), from + MOST_ROWS));
    }
}
