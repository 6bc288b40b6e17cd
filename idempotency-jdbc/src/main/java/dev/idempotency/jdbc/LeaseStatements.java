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
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The statements of the lease protocol on the library's table.
 *
 * <p>What a holder does comes in two forms. A record that was never taken over has exactly the names of its owner's request,
 * which the primary key finds; any other one may have more, which the index on its identity finds.
 */
final class LeaseStatements {

    /** The last one of this process, for all tables: tokens grow across a release even while a clock is set back. */
    private static final AtomicLong LAST_TOKEN = new AtomicLong();

    /** The year 2255. No clock gives a larger token, and one that is damaged is not carried over to other keys. */
    private static final long BEYOND_ALL_CLOCKS = 1L << 53;

    private static final String MINE = " AND owner = ? AND token = ? AND response IS NULL";

    private final Clock clock;
    private final RecordRows rows;
    private final boolean returnsInserted;
    private final String[] insert = new String[Request.MAX_KEYS + 1];
    private final String[] complete = new String[Request.MAX_KEYS + 1];
    private final String[] release = new String[Request.MAX_KEYS + 1];
    private final String[] extend = new String[Request.MAX_KEYS + 1];
    private final String[] deleteExpired = new String[Request.MAX_KEYS + 1];
    private final String completeRecord;
    private final String removeRecord;
    private final String endLease;
    private final String extendRecord;
    private final String takeOver;
    private final String lockNames;
    private final String copy;
    private final String token;

    LeaseStatements(TableName table, Dialect dialect) {
        clock = dialect.clock();
        rows = new RecordRows(table, clock);
        returnsInserted = dialect.returnsInserted();
        String now = clock.once();
        String live = " AND expires_at > " + now;
        String ofRecord = " WHERE record_id = ?" + MINE;
        String completion = "UPDATE " + table + " SET response = ?, expires_at = " + now + " + ?";
        // The clock may move on between two readings of it in a statement, which makes neither deadline shorter.
        String extension = "UPDATE " + table + " SET lease_until = " + later("lease_until", now) + ", expires_at = "
                + later("expires_at", now);
        for (int keys = 1; keys <= Request.MAX_KEYS; keys++) {
            String in = " WHERE idempotency_key IN (" + repeated("?", keys) + ")";
            String untaken = in + " AND record_id = ?" + MINE;
            insert[keys] = insert(table, dialect, keys);
            complete[keys] = completion + untaken + live;
            release[keys] = "DELETE FROM " + table + untaken;
            extend[keys] = extension + untaken + live;
            deleteExpired[keys] = "DELETE FROM " + table + in + " AND expires_at <= " + now;
        }
        completeRecord = completion + ofRecord;
        removeRecord = "DELETE FROM " + table + ofRecord;
        endLease = "UPDATE " + table + " SET lease_until = " + now + ofRecord;
        extendRecord = extension + ofRecord;
        takeOver = "UPDATE " + table + " SET record_id = ?, fingerprint = ?, owner = ?, token = ?, lease_until = " + now
                + " + ?, expires_at = " + now + " + ?" + ofRecord;
        lockNames = "SELECT idempotency_key FROM " + table + " WHERE record_id = ? ORDER BY idempotency_key FOR UPDATE";
        copy = "INSERT INTO " + table
                + " (idempotency_key, record_id, fingerprint, response, owner, token, lease_until,"
                + " created_at, expires_at) SELECT ?, record_id, fingerprint, response, owner, token, lease_until,"
                + " created_at, expires_at FROM " + table + " WHERE idempotency_key = ?";
        token = "SELECT token FROM " + table + " WHERE idempotency_key = ?";
    }

    private static String insert(TableName table, Dialect dialect, int keys) {
        Clock clock = dialect.clock();
        String now = clock.inValues();
        String row = "(?, ?, ?, ?, GREATEST(" + now + ", ?), " + now + " + ?, " + now + ", " + now + " + ?)";
        return "INSERT INTO " + table + " (idempotency_key, record_id, fingerprint, owner, token, lease_until,"
                + " created_at, expires_at) " + clock.beforeValues() + "VALUES " + repeated(row, keys)
                + (dialect.returnsInserted() ? " RETURNING token" : "");
    }

    /** Whether {@link #insert} is more than one statement. */
    boolean readsTokenBack() {
        return !returnsInserted && !clock.isBound();
    }

    /** Inserts a new record, whose identity is its owner, with a token of at least so much; returns the token. */
    long insert(
            Connection connection,
            List<IdempotencyKey> keys,
            UUID owner,
            @Nullable Fingerprint fingerprint,
            long leastToken,
            Duration lease,
            Duration retention)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insert[keys.size()])) {
            Parameters parameters = new Parameters(statement, clock);
            long least = Math.max(leastToken, LAST_TOKEN.get() + 1);
            for (IdempotencyKey key : keys) {
                parameters.key(key).id(owner).fingerprint(fingerprint).id(owner);
                parameters.now().number(least).now().micros(lease).now().now().micros(retention);
            }
            // Not executeUpdate, which some drivers refuse where rows come back, nor executeQuery, for MySQL's driver.
            statement.execute();
            if (clock.isBound()) {
                return seen(Math.max(least, parameters.clock()));
            }
            return seen(returnsInserted ? token(statement.getResultSet()) : tokenOf(connection, keys.get(0)));
        }
    }

    private long tokenOf(Connection connection, IdempotencyKey key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(token)) {
            new Parameters(statement, clock).key(key);
            return token(statement.executeQuery());
        }
    }

    private static long token(ResultSet inserted) throws SQLException {
        try (inserted) {
            if (!inserted.next()) {
                throw new SQLException("an insert of keys returned no token");
            }
            return inserted.getLong(1);
        }
    }

    private static long seen(long token) {
        if (token < BEYOND_ALL_CLOCKS) {
            LAST_TOKEN.accumulateAndGet(token, Math::max);
        }
        return token;
    }

    /** Rows under these keys, expired ones too, in the order of the keys. */
    Map<IdempotencyKey, RecordRow> select(Connection connection, List<IdempotencyKey> keys, boolean forUpdate)
            throws SQLException {
        return rows.select(connection, keys, forUpdate);
    }

    /** Locks all names of a record, in the order of the keys. */
    void lockNames(Connection connection, UUID record) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lockNames)) {
            new Parameters(statement, clock).id(record);
            statement.executeQuery().close();
        }
    }

    void deleteExpired(Connection connection, List<IdempotencyKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(deleteExpired[keys.size()])) {
            new Parameters(statement, clock).keys(keys).now();
            statement.executeUpdate();
        }
    }

    /** Gives a record that is locked to another owner, under all its names; returns the token. */
    long takeOver(
            Connection connection,
            RecordRow row,
            UUID owner,
            @Nullable Fingerprint fingerprint,
            long leastToken,
            Duration lease,
            Duration retention)
            throws SQLException {
        UUID before = row.owner();
        if (before == null) {
            throw new IllegalArgumentException("a record without an owner can't be taken over");
        }
        try (PreparedStatement statement = connection.prepareStatement(takeOver)) {
            long token = seen(Math.max(Math.max(leastToken, LAST_TOKEN.get() + 1), row.now()));
            Parameters parameters =
                    new Parameters(statement, clock).id(row.identityFor(owner)).fingerprint(fingerprint);
            parameters.id(owner).number(token).now().micros(lease).now().micros(retention);
            parameters.id(row.record()).id(before).number(row.token());
            statement.executeUpdate();
            return token;
        }
    }

    /** Records a key as one more name of the record that another key has. */
    void copy(Connection connection, IdempotencyKey key, IdempotencyKey of) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(copy)) {
            new Parameters(statement, clock).key(key).key(of);
            statement.executeUpdate();
        }
    }

    int complete(
            Connection connection,
            List<IdempotencyKey> keys,
            UUID owner,
            long token,
            byte[] payload,
            Duration retention)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(complete[keys.size()])) {
            Parameters parameters =
                    new Parameters(statement, clock).bytes(payload).now().micros(retention);
            parameters.keys(keys).id(owner).id(owner).number(token).now();
            return statement.executeUpdate();
        }
    }

    int release(Connection connection, List<IdempotencyKey> keys, UUID owner, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(release[keys.size()])) {
            new Parameters(statement, clock).keys(keys).id(owner).id(owner).number(token);
            return statement.executeUpdate();
        }
    }

    int extend(Connection connection, List<IdempotencyKey> keys, UUID owner, long token, Duration by)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(extend[keys.size()])) {
            Parameters parameters = new Parameters(statement, clock);
            later(later(parameters, by), by)
                    .keys(keys)
                    .id(owner)
                    .id(owner)
                    .number(token)
                    .now();
            return statement.executeUpdate();
        }
    }

    void completeRecord(Connection connection, UUID record, UUID owner, long token, byte[] payload, Duration retention)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(completeRecord)) {
            Parameters parameters =
                    new Parameters(statement, clock).bytes(payload).now().micros(retention);
            parameters.id(record).id(owner).number(token);
            statement.executeUpdate();
        }
    }

    void removeRecord(Connection connection, UUID record, UUID owner, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(removeRecord)) {
            new Parameters(statement, clock).id(record).id(owner).number(token);
            statement.executeUpdate();
        }
    }

    void endLease(Connection connection, UUID record, UUID owner, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(endLease)) {
            new Parameters(statement, clock).now().id(record).id(owner).number(token);
            statement.executeUpdate();
        }
    }

    void extendRecord(Connection connection, UUID record, UUID owner, long token, Duration by) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(extendRecord)) {
            Parameters parameters = new Parameters(statement, clock);
            later(later(parameters, by), by).id(record).id(owner).number(token);
            statement.executeUpdate();
        }
    }

    private static String later(String column, String now) {
        String then = now + " + ?";
        return "CASE WHEN " + column + " > " + then + " THEN " + column + " ELSE " + then + " END";
    }

    private static Parameters later(Parameters parameters, Duration by) throws SQLException {
        return parameters.now().micros(by).now().micros(by);
    }

    private static String repeated(String what, int times) {
        return String.join(", ", Collections.nCopies(times, what));
    }
}
