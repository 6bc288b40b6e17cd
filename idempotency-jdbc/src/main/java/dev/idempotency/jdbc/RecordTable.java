package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The library's table as records: the keys are inserted before the action runs, and get the response after it, in the
 * same transaction; or, in batches and if asked, both are inserted after it.
 */
final class RecordTable<R> implements Records<R> {

    private static final Duration SOON = Duration.ofSeconds(1);

    private final RecordStatements statements;
    private final BatchStatements batches;
    private final Codec<R> codec;
    private final Duration retention;
    private final boolean actionFirst;

    /** Records whose action is running in this process: one of them is met by a call from inside its own action. */
    private final Set<UUID> running = ConcurrentHashMap.newKeySet();

    RecordTable(
            RecordStatements statements,
            BatchStatements batches,
            Codec<R> codec,
            Duration retention,
            boolean actionFirst) {
        this.actionFirst = actionFirst;
        this.statements = statements;
        this.batches = batches;
        this.codec = codec;
        this.retention = retention;
    }

    @Override
    public <X extends Exception> First<R> first(
            Handle handle, Request request, Action<? super Handle, ? extends R, X> action, boolean again) throws X {
        if (actionFirst) {
            return Objects.requireNonNull(firstAll(handle, List.of(request), alone(action, request), again)
                    .get(request));
        }
        List<IdempotencyKey> keys = request.keysInByteOrder();
        UUID record = RecordIds.next();
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

    private static <R, X extends Exception> BatchAction<Handle, R, X> alone(
            Action<? super Handle, ? extends R, X> action, Request request) {
        return (handle, requests) -> Collections.singletonMap(request, action.run(handle));
    }

    /** The action runs first, and the keys are inserted after it together with the responses. */
    @Override
    public <X extends Exception> Map<Request, First<R>> firstAll(
            Handle handle, List<Request> requests, BatchAction<? super Handle, ? extends R, X> action, boolean again)
            throws X {
        Map<Request, ? extends R> answers = BatchCall.answers(requests, action.run(handle, requests));
        Map<Request, First<R>> firsts = new LinkedHashMap<>();
        List<BatchStatements.Complete> rows = new ArrayList<>();
        Iterator<UUID> records = RecordIds.next(requests.size()).iterator();
        for (Request request : requests) {
            if (!answers.containsKey(request)) {
                throw new IllegalStateException("the action has not answered " + request
                        + ": with a table of the library's it has to answer each request that it is given");
            }
            R response = answers.get(request);
            byte[] payload = Payload.encode(codec, response);
            UUID record = records.next();
            firsts.put(request, new First<>(response, new Original<>(record, decoded(payload), request.fingerprint())));
            for (IdempotencyKey key : request.keys()) {
                rows.add(new BatchStatements.Complete(key, record, request.fingerprint(), payload));
            }
        }
        rows.sort(Comparator.comparing(BatchStatements.Complete::key));
        try {
            if (again) {
                batches.deleteExpired(
                        handle.getConnection(),
                        rows.stream().map(BatchStatements.Complete::key).toList());
            }
            batches.insert(handle.getConnection(), rows, retention);
        } catch (SQLException | RuntimeException e) {
            throw StatementFailure.ofInsert(e);
        }
        return firsts;
    }

    @Override
    public Map<Request, Found<R>> findAll(Handle handle, List<Request> requests, Consumer<Request> unreadable) {
        List<IdempotencyKey> keys =
                requests.stream().flatMap(request -> request.keys().stream()).toList();
        Map<IdempotencyKey, RecordRow> rows;
        try {
            rows = batches.select(handle.getConnection(), keys);
        } catch (SQLException e) {
            throw StatementFailure.of(e);
        }
        Map<Request, Found<R>> found = new LinkedHashMap<>();
        for (Request request : requests) {
            Map<IdempotencyKey, RecordRow> own = new HashMap<>();
            for (IdempotencyKey key : request.keys()) {
                RecordRow row = rows.get(key);
                if (row != null) {
                    own.put(key, row);
                }
            }
            if (own.isEmpty()) {
                continue;
            }
            try {
                found.put(request, found(request, own));
            } catch (UnreadableRecordException e) {
                unreadable.accept(request);
            }
        }
        return found;
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
    public boolean isSingleStatement() {
        return false;
    }

    @Override
    public boolean refusedBy(Throwable failure) {
        return StatementFailure.saysKeyTaken(failure);
    }

    @Override
    public boolean mayStemFromRepeat(Throwable failure, boolean batch) {
        if (failure instanceof InterruptedException) {
            // It says nothing of the requests, and is not to be swallowed beside a repeat.
            return false;
        }
        return refusedBy(failure) || ((batch || actionFirst) && !(failure instanceof StatementFailure));
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
        return rows.isEmpty() ? null : found(request, rows);
    }

    private Found<R> found(Request request, Map<IdempotencyKey, RecordRow> rows) {
        Refused<R> refused = Judgement.refusal(request, originals(rows));
        if (refused != null) {
            return new Found<>(refused, null, List.of(), List.of(), null);
        }
        List<IdempotencyKey> names =
                request.keys().stream().filter(rows::containsKey).toList();
        List<IdempotencyKey> unrecorded = request.keysInByteOrder().stream()
                .filter(key -> !rows.containsKey(key))
                .toList();
        RecordRow row = Objects.requireNonNull(rows.get(names.get(0)));
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
