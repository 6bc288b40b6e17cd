package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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

    private final RecordStatements statements;
    private final String insert;
    private final String row;
    private final String select;
    private final String delete;
    private final String expired;

    BatchStatements(TableName table, Dialect dialect, RecordStatements statements) {
        String now = dialect.clock();
        this.statements = statements;
        insert = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, created_at, expires_at) VALUES ";
        row = "(?, ?, ?, ?, " + now + ", " + now + " + ?)";
        select = "SELECT idempotency_key, record_id, fingerprint, response, expires_at - " + now + " FROM " + table;
        delete = "DELETE FROM " + table;
        expired = " AND expires_at <= " + now;
    }

    /** A row to insert; its payload is not changed afterwards. */
    @SuppressWarnings("ArrayRecordComponent")
    record Complete(
            IdempotencyKey key, UUID record, @Nullable Fingerprint fingerprint, byte[] payload) {}

    void insert(Connection connection, List<Complete> rows, Duration retention) throws SQLException {
        int from = 0;
        while (from < rows.size()) {
            int to = from;
            int bytes = 0;
            while (to < rows.size() && to - from < MOST_ROWS && (bytes < MOST_BYTES || to == from)) {
                bytes += rows.get(to++).payload().length;
            }
            insertOnce(connection, rows.subList(from, to), retention);
            from = to;
        }
    }

    private void insertOnce(Connection connection, List<Complete> rows, Duration retention) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(insert + RecordStatements.repeated(row, rows.size()))) {
            int i = 0;
            for (Complete row : rows) {
                statement.setBytes(++i, row.key().toBytes());
                statement.setBytes(++i, RecordStatements.bytes(row.record()));
                statement.setBytes(
                        ++i,
                        row.fingerprint() == null ? null : row.fingerprint().toBytes());
                statement.setBytes(++i, row.payload());
                i = statements.setClock(statement, i);
                i = statements.setClock(statement, i);
                statement.setLong(++i, RecordStatements.micros(retention));
            }
            statement.executeUpdate();
        }
    }

    Map<IdempotencyKey, RecordStatements.Row> select(Connection connection, List<IdempotencyKey> keys)
            throws SQLException {
        Map<IdempotencyKey, RecordStatements.Row> found = new HashMap<>();
        for (int from = 0; from < keys.size(); from += MOST_ROWS) {
            List<IdempotencyKey> some = keys.subList(from, Math.min(keys.size(), from + MOST_ROWS));
            try (PreparedStatement statement = connection.prepareStatement(select + in(some))) {
                RecordStatements.setKeys(statement, statements.setClock(statement, 0), some);
                try (ResultSet results = statement.executeQuery()) {
                    found.putAll(RecordStatements.live(results, some));
                }
            }
        }
        return found;
    }

    void deleteExpired(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        for (int from = 0; from < keys.size(); from += MOST_ROWS) {
            List<IdempotencyKey> some = keys.subList(from, Math.min(keys.size(), from + MOST_ROWS));
            try (PreparedStatement statement = connection.prepareStatement(delete + in(some) + expired)) {
                statements.setClock(statement, RecordStatements.setKeys(statement, 0, some));
                statement.executeUpdate();
            }
        }
    }

    private static String in(List<IdempotencyKey> keys) {
        return " WHERE idempotency_key IN (" + RecordStatements.repeated("?", keys.size()) + ")";
    }
}
