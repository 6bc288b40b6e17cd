package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.IdempotencyException;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.jdbc.Records.First;
import dev.idempotency.jdbc.Records.Found;
import dev.idempotency.store.KeyGate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Requests that share no key, in a transaction of their own.
 *
 * <ol>
 *   <li>Begin, store all that are pending as first ones by running the action, commit.
 *   <li>If a key is taken: roll back, read the originals of all that are pending in one go, answer those, and go on from 1
 *       with the rest.
 *   <li>If the action left requests out, the table had them: the others are committed, and their originals are read.
 *   <li>If no original is there: once more from 1, and the second time the action's exception reaches the caller.
 *   <li>Give the connection back, and publish what is committed, also if something failed after that: a slow window holds
 *       none.
 * </ol>
 */
final class BatchCall<R extends @Nullable Object, X extends Exception> {

    private final Database database;
    private final Records<R> records;
    private final BatchAction<? super Handle, ? extends R, X> action;
    private final Publication<? super R> publication;
    private final Batch<R> batch;
    private final Map<Request, KeyGate.Pass<R>> passes = new HashMap<>();
    private final List<Found<R>> committed = new ArrayList<>();

    BatchCall(
            Database database,
            Records<R> records,
            Batch<R> batch,
            BatchAction<? super Handle, ? extends R, X> action,
            Publication<? super R> publication) {
        this.database = database;
        this.records = records;
        this.batch = batch;
        this.action = action;
        this.publication = publication;
    }

    /** Answers the leaders of the batch, each of which has a pass. */
    void run(List<KeyGate.Pass<R>> given) throws X {
        List<Request> leaders = batch.leaders();
        for (int i = 0; i < leaders.size(); i++) {
            KeyGate.Pass<R> pass = given.get(i);
            passes.put(leaders.get(i), pass);
            Outcome<R> known = pass.refusal(OwnTransactionStore.RETRY_AFTER);
            if (known == null) {
                known = pass.answer();
            }
            if (known != null) {
                batch.answer(leaders.get(i), known);
            }
        }
        if (batch.pending().isEmpty()) {
            return;
        }
        try {
            Attempts.run(database, this::attempt);
        } finally {
            committed.forEach(told ->
                    publication.committed(told.names(), Objects.requireNonNull(told.original()), told.remaining()));
        }
    }

    private @Nullable Boolean attempt(Session session, boolean again) throws X {
        boolean refusedBefore = again;
        while (true) {
            List<Request> pending = batch.pending();
            if (pending.isEmpty()) {
                return true;
            }
            boolean second = refusedBefore;
            Map<Request, First<R>> stored;
            try {
                stored = session.inTransaction(handle -> records.firstAll(handle, pending, action, second));
            } catch (Throwable failure) {
                if (failure instanceof IdempotencyException
                        || Attempts.mayRunAgain(failure, database)
                        || !records.mayStemFromRepeat(failure, true)) {
                    throw failure;
                }
                if (answerRepeats(session, pending, failure)) {
                    continue;
                }
                if (second || !records.refusedBy(failure)) {
                    throw failure;
                }
                refusedBefore = true;
                continue;
            }
            stored.forEach((request, first) -> tell(request, first.stored(request, records.retention())));
            List<Request> leftOut = batch.pending();
            if (leftOut.isEmpty()) {
                return true;
            }
            if (!answerRepeats(session, leftOut)) {
                if (second) {
                    throw new StoreException(
                            "the action has twice left out " + leftOut.get(0) + " and " + (leftOut.size() - 1)
                                    + " more, as stored already, and the finder found no row under any of their keys",
                            null);
                }
                refusedBefore = true;
            }
        }
    }

    /** What an action has answered; only what it was asked. */
    static <R extends @Nullable Object> Map<Request, R> answers(List<Request> asked, Map<Request, R> answers) {
        int answered = 0;
        for (Request request : asked) {
            answered += answers.containsKey(request) ? 1 : 0;
        }
        if (answered < answers.size()) {
            Set<Request> others = new HashSet<>(answers.keySet());
            asked.forEach(others::remove);
            if (!others.isEmpty()) {
                throw new IllegalStateException(
                        "the action has answered " + others.iterator().next() + ", which it was not given");
            }
        }
        return answers;
    }

    /** The action of a batch, for one of its requests; what it leaves out was stored already. */
    static <R extends @Nullable Object, X extends Exception> Action<Handle, R, X> alone(
            BatchAction<? super Handle, ? extends R, X> action, Request request) {
        return handle -> {
            List<Request> asked = List.of(request);
            Map<Request, ? extends R> answers = answers(asked, action.run(handle, asked));
            if (answers.isEmpty()) {
                throw new AlreadyStored();
            }
            return answers.values().iterator().next();
        };
    }

    private void tell(Request request, Found<R> told) {
        Original<R> original = told.original();
        if (original == null) {
            batch.answer(request, told.outcome());
            return;
        }
        get(passes, request).settle(told.names(), original, told.remaining());
        batch.answer(request, told.outcome(), original, told.names());
        committed.add(told);
    }

    /** As the other one does; a failure that it meets is not to hide the first one. */
    private boolean answerRepeats(Session session, List<Request> requests, Throwable first) {
        try {
            return answerRepeats(session, requests);
        } catch (RetryableException e) {
            first.addSuppressed(e);
            return false;
        }
    }

    /** Whether at least one of them has an original; one that can't be read is left for later. */
    private boolean answerRepeats(Session session, List<Request> requests) {
        List<Request> unreadable = new ArrayList<>();
        Map<Request, Found<R>> found =
                new HashMap<>(session.reading(handle -> records.findAll(handle, requests, unreadable::add)));
        unreadable.forEach(batch::leaveForLater);
        List<Request> unrecorded = new ArrayList<>();
        found.forEach((request, original) -> {
            if (!original.unrecorded().isEmpty()) {
                unrecorded.add(request);
            }
        });
        if (!unrecorded.isEmpty()) {
            session.inTransaction(handle -> {
                unrecorded.forEach(request -> records.addNames(handle, request, get(found, request)));
                return true;
            });
            unrecorded.forEach(request -> found.put(request, get(found, request).withNamesAdded()));
        }
        found.forEach(this::tell);
        return !found.isEmpty() || !unreadable.isEmpty();
    }

    private static <V> V get(Map<Request, V> map, Request request) {
        return Objects.requireNonNull(map.get(request));
    }
}
