package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Refused;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.Judgement;
import dev.idempotency.store.Payload;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The library's table as records: the keys are inserted before the action runs, and get the response after it, in the
 * same transaction.
 */
final class RecordTable<R> implements Records<R> {

    private static final Duration SOON = Duration.ofSeconds(1);

    private final RecordStatements statements;
    private final Codec<R> codec;
    private final Duration retention;

    /** Records whose action is running in this process: one of them is met by a call from inside its own action. */
    private final Set<UUID> running = ConcurrentHashMap.newKeySet();

    RecordTable(RecordStatements statements, Codec<R> codec, Duration retention) {
        this.statements = statements;
        this.codec = codec;
        this.retention = retention;
    }

    @Override
    public <X extends Exception> First<R> first(
            Handle handle, Request request, Action<? super Handle, ? extends R, X> action, boolean again) throws X {
        List<IdempotencyKey> keys = request.keysInByteOrder();
        UUID record = UUID.randomUUID();
        claim(handle, keys, record, request.fingerprint(), again);
        R response;
        running.add(record);
        try {
            response = action.run(handle);
        } finally {
            running.remove(record);
        }
        byte[] payload = Payload.encode(codec, response);
        Original<R> kept = new Original<>(record, decoded(payload), request.fingerprint());
        if (complete(handle, keys, record, payload) != keys.size()) {
            throw new OutcomeUnknownException(
                    "the action ended the transaction that it was given, and what it did may be stored or not: an action must"
                            + " neither commit nor roll back",
                    null);
        }
        return new First<>(response, kept);
    }

    /** A copy, made before anything is stored, so that a codec that can't read what it wrote is found out in time. */
    private R decoded(byte[] payload) {
        try {
            return Payload.decode(codec, payload);
        } catch (UnreadableRecordException e) {
            throw new StoreException("the codec could not decode what it had encoded; nothing was stored", e);
        }
    }

    private void claim(
            Handle handle, List<IdempotencyKey> keys, UUID record, @Nullable Fingerprint fingerprint, boolean again) {
        try {
            if (again) {
                statements.deleteExpired(handle.getConnection(), keys);
            }
            statements.insert(handle.getConnection(), keys, record, fingerprint, retention);
        } catch (SQLException | RuntimeException e) {
            // A proxy around the connection may wrap what the driver threw.
            throw StatementFailure.ofInsert(e);
        }
    }

    private int complete(Handle handle, List<IdempotencyKey> keys, UUID record, byte[] payload) {
        try {
            return statements.complete(handle.getConnection(), keys, record, payload);
        } catch (SQLException e) {
            throw StatementFailure.of(e);
        }
    }

    @Override
    public boolean refusedBy(Throwable failure) {
        return StatementFailure.saysKeyTaken(failure);
    }

    @Override
    public boolean otherConstraintsPossible() {
        return false;
    }

    @Override
    public @Nullable Found<R> find(Handle handle, Request request, boolean joined) {
        Map<IdempotencyKey, RecordRow> rows;
        try {
            rows = statements.select(handle.getConnection(), request.keysInByteOrder(), joined);
        } catch (SQLException e) {
            throw StatementFailure.of(e);
        }
        if (rows.isEmpty()) {
            return null;
        }
        Refused<R> refused = Judgement.refusal(request, originals(rows));
        if (refused != null) {
            return new Found<>(refused, null, List.of(), List.of(), null);
        }
        List<IdempotencyKey> names =
                request.keys().stream().filter(rows::containsKey).toList();
        List<IdempotencyKey> unrecorded = request.keysInByteOrder().stream()
                .filter(key -> !rows.containsKey(key))
                .toList();
        RecordRow row = rows.values().iterator().next();
        if (row.isInProgress() && (row.owner() != null || running.contains(row.record()))) {
            return new Found<>(new InProgress<>(names.get(0), retryAfter(row)), null, List.of(), List.of(), null);
        }
        R response = Payload.decode(codec, row.payload());
        return new Found<>(
                new Replayed<>(response, names.get(0), Source.STORE),
                new Original<>(row.record(), Payload.decode(codec, row.payload()), row.fingerprint()),
                names,
                unrecorded,
                row.remaining());
    }

    /** A leased record is its holder's while its lease lasts, and then of whoever takes it over, which no action here does. */
    private static Duration retryAfter(RecordRow row) {
        return row.owner() != null && row.leaseLasts() ? row.leaseRemaining() : SOON;
    }

    @Override
    public void addNames(Handle handle, Request request, Found<R> found) {
        try {
            Connection connection = handle.getConnection();
            IdempotencyKey known = found.names().get(0);
            UUID record = (UUID) Objects.requireNonNull(found.original()).identity();
            statements.deleteExpired(connection, found.unrecorded());
            for (IdempotencyKey key : found.unrecorded()) {
                if (statements.insertCopy(connection, key, known, record) == 0) {
                    throw StatementFailure.originalGone();
                }
            }
        } catch (SQLException e) {
            throw StatementFailure.ofInsert(e);
        }
    }

    @Override
    public Duration retention() {
        return retention;
    }

    private static Map<IdempotencyKey, Original<?>> originals(Map<IdempotencyKey, RecordRow> rows) {
        Map<IdempotencyKey, Original<?>> originals = new HashMap<>();
        rows.forEach((key, row) -> originals.put(key, new Original<>(row.record(), row, row.fingerprint())));
        return originals;
    }
}
