package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.Judgement;
import dev.idempotency.store.LeaseBackend;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Leases in the library's table, one row for each name of a record.
 *
 * <ol>
 *   <li>A claim inserts. If no key is taken, that one statement is all.
 *   <li>If one is taken, the rows are read without locks: for one who waits, and for a late repeat, that is all.
 *   <li>Where something has to change (a lapsed lease, an expired record, a new name), the rows are locked in byte order
 *       and judged again, in one short transaction; of a lapsed record first those of all its names.
 *   <li>Completing, releasing and extending are one statement each, by keys, owner and token. Where that does not meet
 *       exactly the rows of the request, the rows are locked and looked at: the record may have been taken over by this
 *       owner and so have more names, be complete, or be somebody else's.
 * </ol>
 *
 * <p>No transaction is open while an action runs. Rows that the transactional mode has written have no owner, and count as
 * complete.
 */
final class JdbcLeases implements LeaseBackend {

    /** Below the smallest limit that is in use. */
    private static final int ALWAYS_FITS = 1 << 18;

    private final Database database;
    private final LeaseStatements statements;

    JdbcLeases(Database database, TableName table) {
        this.database = database;
        this.statements = new LeaseStatements(table, database.dialect());
    }

    @Override
    public Claim claim(Request request, UUID owner, Duration lease, Duration retention) {
        return Attempts.run(database, (session, again) -> {
            try {
                Session.Work<Long, SQLException> insert = handle -> statements.insert(
                        handle.getConnection(),
                        request.keysInByteOrder(),
                        owner,
                        request.fingerprint(),
                        0,
                        lease,
                        retention);
                long token =
                        statements.readsTokenBack() ? session.inTransaction(insert) : session.inOneStatement(insert);
                return new Claim.Granted(owner, token, false);
            } catch (SQLException e) {
                if (!SqlFailures.violatesConstraint(e)) {
                    throw StatementFailure.of(e);
                }
            }
            Map<IdempotencyKey, RecordRow> seen = session.reading(handle -> live(select(handle, request, false)));
            Claim claim = judge(request, owner, seen);
            return claim != null
                    ? claim
                    : session.inTransaction(handle -> {
                        lockAllNames(handle, seen);
                        return take(handle, request, owner, lease, retention);
                    });
        });
    }

    /** What rows that are live mean if nothing has to change for it; null otherwise. */
    private static @Nullable Claim judge(Request request, UUID owner, Map<IdempotencyKey, RecordRow> live) {
        List<IdempotencyKey> known =
                request.keys().stream().filter(live::containsKey).toList();
        RecordRow row = known.isEmpty() ? null : live.get(known.get(0));
        if (row == null) {
            return null;
        }
        if (row.isInProgress() && row.isOf(owner)) {
            return new Claim.Granted(row.record(), row.token(), !row.record().equals(owner));
        }
        Outcome.Refused<Object> refusal = Judgement.refusal(request, originals(live));
        if (refusal != null) {
            return new Claim.Refused(refusal);
        }
        if (!row.isInProgress()) {
            return known.size() == request.keys().size() ? done(known.get(0), row, known) : null;
        }
        if (row.owner() == null) {
            throw new UnreadableRecordException(
                    "the record is committed, and has neither a response nor an owner: the action of a transactional"
                            + " store ended its transaction by itself",
                    null);
        }
        return row.leaseLasts() ? new Claim.Refused(new InProgress<>(known.get(0), row.leaseRemaining())) : null;
    }

    /** Those who meet a lapsed record by different names of it would each lock their own and then wait for the others'. */
    private void lockAllNames(Handle handle, Map<IdempotencyKey, RecordRow> seen) {
        for (RecordRow row : seen.values()) {
            if (row.isInProgress()) {
                try {
                    statements.lockNames(handle.getConnection(), row.record());
                } catch (SQLException e) {
                    throw StatementFailure.of(e);
                }
                return;
            }
        }
    }

    /** Locks the rows, judges again, and changes what has to be changed. */
    private Claim take(Handle handle, Request request, UUID owner, Duration lease, Duration retention) {
        Map<IdempotencyKey, RecordRow> found = select(handle, request, true);
        Map<IdempotencyKey, RecordRow> live = live(found);
        Claim claim = judge(request, owner, live);
        if (claim != null) {
            return claim;
        }
        List<IdempotencyKey> keys = request.keysInByteOrder();
        List<IdempotencyKey> fresh =
                keys.stream().filter(key -> !live.containsKey(key)).toList();
        long leastToken =
                1 + found.values().stream().mapToLong(RecordRow::token).max().orElse(0);
        try {
            var connection = handle.getConnection();
            if (live.size() < found.size()) {
                statements.deleteExpired(connection, fresh);
            }
            if (live.isEmpty()) {
                long token =
                        statements.insert(connection, keys, owner, request.fingerprint(), leastToken, lease, retention);
                return new Claim.Granted(owner, token, false);
            }
            Map.Entry<IdempotencyKey, RecordRow> known =
                    live.entrySet().iterator().next();
            RecordRow row = known.getValue();
            long token = row.isInProgress()
                    ? statements.takeOver(connection, row, owner, request.fingerprint(), leastToken, lease, retention)
                    : 0;
            for (IdempotencyKey key : fresh) {
                statements.copy(connection, key, known.getKey());
            }
            if (row.isInProgress()) {
                return new Claim.Granted(row.identityFor(owner), token, true);
            }
            IdempotencyKey matched = request.keys().stream()
                    .filter(live::containsKey)
                    .findFirst()
                    .orElseThrow();
            return done(matched, row, request.keys());
        } catch (SQLException e) {
            throw StatementFailure.ofInsert(e);
        }
    }

    @Override
    public boolean complete(Request request, UUID owner, long token, byte[] payload, Duration retention) {
        try {
            return completed(request, owner, token, payload, retention);
        } catch (OutcomeUnknownException | RetryableException failure) {
            if (isTooLarge(payload)) {
                throw new StoreException(
                        "the response of " + payload.length
                                + " bytes does not fit into a statement: raise the database's" + " max_allowed_packet",
                        failure);
            }
            throw failure;
        }
    }

    /** A statement that is too large ends the connection, which looks like the loss of any other. */
    private boolean isTooLarge(byte[] payload) {
        String largest = database.dialect().largestStatement();
        if (largest.isEmpty() || payload.length < ALWAYS_FITS) {
            return false;
        }
        try (Session session = Session.open(database)) {
            // Where a driver writes the payload as text, a byte may become two.
            return 2L * payload.length
                    > session.<Long>reading(handle ->
                            handle.createQuery(largest).mapTo(Long.class).one());
        } catch (RuntimeException e) {
            return false;
        }
    }

    private boolean completed(Request request, UUID owner, long token, byte[] payload, Duration retention) {
        return settle(
                request,
                owner,
                token,
                handle -> statements.complete(
                        handle.getConnection(), request.keysInByteOrder(), owner, token, payload, retention),
                (handle, record) ->
                        statements.completeRecord(handle.getConnection(), record, owner, token, payload, retention),
                false,
                true);
    }

    @Override
    public boolean release(Request request, UUID owner, long token) {
        return settle(
                request,
                owner,
                token,
                handle -> statements.release(handle.getConnection(), request.keysInByteOrder(), owner, token),
                (handle, record) -> {
                    if (record.equals(owner)) {
                        statements.removeRecord(handle.getConnection(), record, owner, token);
                    } else {
                        statements.endLease(handle.getConnection(), record, owner, token);
                    }
                },
                true,
                false);
    }

    @Override
    public boolean extend(Request request, UUID owner, long token, Duration by) {
        return settle(
                request,
                owner,
                token,
                handle -> statements.extend(handle.getConnection(), request.keysInByteOrder(), owner, token, by),
                (handle, record) -> statements.extendRecord(handle.getConnection(), record, owner, token, by),
                false,
                false);
    }

    /** What to do to all names of a record that is locked and its owner's. */
    @FunctionalInterface
    private interface OnRecord {
        void with(Handle handle, UUID record) throws SQLException;
    }

    private boolean settle(
            Request request,
            UUID owner,
            long token,
            Session.Work<Integer, SQLException> byKeys,
            OnRecord byRecord,
            boolean ifAbsent,
            boolean ifComplete) {
        return Attempts.run(database, (session, again) -> {
            try {
                if (session.inOneStatement(byKeys) == request.keys().size()) {
                    return true;
                }
            } catch (SQLException e) {
                throw StatementFailure.of(e);
            }
            return session.inTransaction(handle -> {
                Map<IdempotencyKey, RecordRow> live = live(select(handle, request, true));
                if (live.isEmpty()) {
                    return ifAbsent;
                }
                boolean mine = live.size() == request.keys().size()
                        && live.values().stream().allMatch(row -> row.isOf(owner) && row.token() == token);
                RecordRow row = live.values().iterator().next();
                if (!mine || !row.isInProgress()) {
                    return mine && ifComplete;
                }
                try {
                    byRecord.with(handle, row.record());
                } catch (SQLException e) {
                    throw StatementFailure.of(e);
                }
                return true;
            });
        });
    }

    private Map<IdempotencyKey, RecordRow> select(Handle handle, Request request, boolean forUpdate) {
        try {
            return statements.select(handle.getConnection(), request.keysInByteOrder(), forUpdate);
        } catch (SQLException e) {
            throw StatementFailure.of(e);
        }
    }

    private static Claim.Done done(IdempotencyKey matched, RecordRow row, List<IdempotencyKey> names) {
        byte[] payload = row.payload();
        if (payload == null) {
            throw new IllegalArgumentException("a record in progress is not done");
        }
        return new Claim.Done(
                matched, new Original<>(row.record(), payload, row.fingerprint()), names, row.remaining());
    }

    private static Map<IdempotencyKey, RecordRow> live(Map<IdempotencyKey, RecordRow> found) {
        Map<IdempotencyKey, RecordRow> live = new LinkedHashMap<>(found);
        live.values().removeIf(row -> !row.isLive());
        return live;
    }

    @Override
    public List<String> warnings() {
        return database.warnings();
    }

    private static Map<IdempotencyKey, Original<?>> originals(Map<IdempotencyKey, RecordRow> rows) {
        Map<IdempotencyKey, Original<?>> originals = new HashMap<>();
        rows.forEach((key, row) -> originals.put(key, new Original<>(row.record(), row, row.fingerprint())));
        return originals;
    }
}
