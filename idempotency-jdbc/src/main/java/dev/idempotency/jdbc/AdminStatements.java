package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The statements of whoever looks after the library's table. */
final class AdminStatements {

    private final Map<RecordState, String> list = new EnumMap<>(RecordState.class);
    private final String find;
    private final String names;
    private final String complete;
    private final String delete;
    private final Clock clock;

    AdminStatements(TableName table, Dialect dialect) {
        clock = dialect.clock();
        String now = clock.once();
        String select = "SELECT idempotency_key, record_id, fingerprint, owner, token, lease_until, created_at,"
                + " expires_at, CASE WHEN response IS NULL THEN 0 ELSE 1 END, " + now + " FROM " + table + " WHERE ";
        for (RecordState state : RecordState.values()) {
            list.put(
                    state,
                    select + "idempotency_key > ? AND idempotency_key < ? AND " + condition(state, now)
                            + " ORDER BY idempotency_key" + dialect.firstRows());
        }
        find = select + "idempotency_key = ?";
        names = select + "record_id = ? ORDER BY idempotency_key";
        complete = "UPDATE " + table + " SET response = ?, owner = ?, expires_at = " + now
                + " + ? WHERE record_id = ? AND response IS NULL";
        delete = "DELETE FROM " + table + " WHERE record_id = ?";
    }

    private static String condition(RecordState state, String now) {
        String held = "expires_at > " + now + " AND response IS NULL AND owner IS NOT NULL AND ";
        return switch (state) {
            case IN_PROGRESS -> held + "(lease_until IS NULL OR lease_until <= 0 OR lease_until > " + now + ")";
            case LAPSED -> held + "lease_until > 0 AND lease_until <= " + now;
            case COMPLETE -> "expires_at > " + now + " AND response IS NOT NULL";
            case UNREADABLE -> "expires_at > " + now + " AND response IS NULL AND owner IS NULL";
            case EXPIRED -> "expires_at <= " + now;
        };
    }

    @Nullable
    RecordInfo find(Connection connection, IdempotencyKey key, boolean forUpdate) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(find + (forUpdate ? " FOR UPDATE" : ""))) {
            new Parameters(statement, clock).now().key(key);
            List<RecordInfo> found = read(statement);
            return found.isEmpty() ? null : found.get(0);
        }
    }

    List<RecordInfo> names(Connection connection, UUID record, boolean forUpdate) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(names + (forUpdate ? " FOR UPDATE" : ""))) {
            new Parameters(statement, clock).now().id(record);
            return read(statement);
        }
    }

    List<RecordInfo> list(
            Connection connection, String namespace, RecordState state, @Nullable IdempotencyKey after, int limit)
            throws SQLException {
        String sql = list.getOrDefault(state, "");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Parameters parameters = new Parameters(statement, clock).now();
            parameters.bytes(after == null ? bytes(namespace + '\0') : after.toBytes());
            parameters.bytes(bytes(namespace + '\1')).now();
            if (state == RecordState.IN_PROGRESS || state == RecordState.LAPSED) {
                parameters.now();
            }
            parameters.number(limit);
            return read(statement);
        }
    }

    /** Completes a record that is locked, for an owner that no holder is. */
    void complete(Connection connection, UUID record, byte[] payload, Duration retention) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(complete)) {
            new Parameters(statement, clock)
                    .bytes(payload)
                    .id(UUID.randomUUID())
                    .now()
                    .micros(retention)
                    .id(record);
            statement.executeUpdate();
        }
    }

    void delete(Connection connection, UUID record) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(delete)) {
            new Parameters(statement, clock).id(record);
            statement.executeUpdate();
        }
    }

    private static List<RecordInfo> read(PreparedStatement statement) throws SQLException {
        List<RecordInfo> found = new ArrayList<>();
        try (ResultSet results = statement.executeQuery()) {
            while (results.next()) {
                byte[] fingerprint = results.getBytes(3);
                long leaseUntil = results.getLong(6);
                found.add(new RecordInfo(
                        key(results.getBytes(1)),
                        RecordRows.uuid(results.getBytes(2)),
                        state(results),
                        fingerprint == null ? null : Fingerprint.of(fingerprint),
                        results.getLong(5),
                        instant(results.getLong(7)),
                        leaseUntil <= 0 ? null : instant(leaseUntil),
                        instant(results.getLong(8))));
            }
        }
        return found;
    }

    /** As {@link #condition} has it. */
    private static RecordState state(ResultSet results) throws SQLException {
        long leaseUntil = results.getLong(6);
        long now = results.getLong(10);
        if (results.getLong(8) <= now) {
            return RecordState.EXPIRED;
        }
        if (results.getInt(9) == 1) {
            return RecordState.COMPLETE;
        }
        if (results.getBytes(4) == null) {
            return RecordState.UNREADABLE;
        }
        return leaseUntil <= 0 || leaseUntil > now ? RecordState.IN_PROGRESS : RecordState.LAPSED;
    }

    private static IdempotencyKey key(byte[] bytes) {
        String[] parts = new String(bytes, StandardCharsets.UTF_8).split("\0", -1);
        return IdempotencyKey.of(parts[0], parts[1], parts[2]);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
