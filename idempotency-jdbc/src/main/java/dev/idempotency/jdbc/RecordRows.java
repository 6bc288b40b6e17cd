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
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Reads rows of the library's table by their keys. */
final class RecordRows {

    private final String[] select = new String[Request.MAX_KEYS + 1];
    private final Clock clock;

    RecordRows(TableName table, Clock clock) {
        this.clock = clock;
        for (int keys = 1; keys <= Request.MAX_KEYS; keys++) {
            select[keys] = "SELECT idempotency_key, record_id, fingerprint, response, owner, token, lease_until,"
                    + " expires_at, " + clock.once() + " FROM " + table + " WHERE idempotency_key IN ("
                    + String.join(", ", Collections.nCopies(keys, "?")) + ") ORDER BY idempotency_key";
        }
    }

    /** Rows under these keys, expired ones too, in the order of the keys. */
    Map<IdempotencyKey, RecordRow> select(Connection connection, List<IdempotencyKey> keys, boolean forUpdate)
            throws SQLException {
        Map<ByteBuffer, IdempotencyKey> asked = new HashMap<>();
        keys.forEach(key -> asked.put(ByteBuffer.wrap(key.toBytes()), key));
        String sql = select[keys.size()] + (forUpdate ? " FOR UPDATE" : "");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            new Parameters(statement, clock).now().keys(keys);
            Map<IdempotencyKey, RecordRow> rows = new LinkedHashMap<>();
            try (ResultSet results = statement.executeQuery()) {
                while (results.next()) {
                    IdempotencyKey key = asked.get(ByteBuffer.wrap(results.getBytes(1)));
                    if (key != null) {
                        rows.put(key, row(results));
                    }
                }
            }
            return rows;
        }
    }

    private static RecordRow row(ResultSet results) throws SQLException {
        byte[] record = results.getBytes(2);
        byte[] fingerprint = results.getBytes(3);
        byte[] owner = results.getBytes(5);
        if (record.length != 16
                || (owner != null && owner.length != 16)
                || (fingerprint != null && (fingerprint.length == 0 || fingerprint.length > Fingerprint.MAX_BYTES))) {
            throw new UnreadableRecordException("the record's identity, owner or fingerprint is damaged", null);
        }
        return new RecordRow(
                uuid(record),
                fingerprint == null ? null : Fingerprint.of(fingerprint),
                results.getBytes(4),
                owner == null ? null : uuid(owner),
                results.getLong(6),
                results.getLong(7),
                results.getLong(8),
                results.getLong(9));
    }

    static UUID uuid(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }
}
