package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.store.Judgement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** The user's own table: the action's insert meets the unique key, and the user's finder reads. */
final class YourTable<R extends @Nullable Object> implements Records<R> {

    private final FindOriginal<R> finder;
    private final @Nullable Duration retention;
    private final boolean singleStatement;

    YourTable(FindOriginal<R> finder, @Nullable Duration retention, boolean singleStatement) {
        this.finder = finder;
        this.retention = retention;
        this.singleStatement = singleStatement;
    }

    @Override
    public boolean isSingleStatement() {
        return singleStatement;
    }

    @Override
    public <X extends Exception> First<R> first(
            Handle handle, Request request, Action<? super Handle, ? extends R, X> action, boolean again) throws X {
        // The row's primary key is not known here; a fresh object tells this record from every other as well.
        R response = action.run(handle);
        return new First<>(response, new Original<>(new Object(), response, request.fingerprint()));
    }

    @Override
    public <X extends Exception> Map<Request, First<R>> firstAll(
            Handle handle, List<Request> requests, BatchAction<? super Handle, ? extends R, X> action, boolean again)
            throws X {
        Map<Request, ? extends R> answers = BatchCall.answers(requests, action.run(handle, requests));
        Map<Request, First<R>> stored = new LinkedHashMap<>();
        answers.forEach((request, response) -> stored.put(
                request, new First<>(response, new Original<>(new Object(), response, request.fingerprint()))));
        return stored;
    }

    @Override
    public boolean refusedBy(Throwable failure) {
        return SqlFailures.violatesConstraint(failure) || isAlreadyStored(failure);
    }

    @Override
    public boolean mayStemFromRepeat(Throwable failure, boolean batch) {
        return refusedBy(failure);
    }

    @Override
    public boolean otherConstraintsPossible() {
        return true;
    }

    @Override
    public @Nullable Found<R> find(Handle handle, Request request, boolean joined) {
        Map<IdempotencyKey, Original<R>> found = new LinkedHashMap<>();
        for (IdempotencyKey key : request.keys()) {
            finder.find(handle, key).ifPresent(original -> found.put(key, original));
        }
        return judged(request, found);
    }

    @Override
    public Map<Request, Found<R>> findAll(Handle handle, List<Request> requests, Consumer<Request> unreadable) {
        Map<IdempotencyKey, Original<R>> found = finder.findAll(
                handle,
                requests.stream().flatMap(request -> request.keys().stream()).toList());
        Map<Request, Found<R>> answers = new LinkedHashMap<>();
        for (Request request : requests) {
            Found<R> answer = judged(request, found);
            if (answer != null) {
                answers.put(request, answer);
            }
        }
        return answers;
    }

    private static <R extends @Nullable Object> @Nullable Found<R> judged(
            Request request, Map<IdempotencyKey, Original<R>> originals) {
        Map<IdempotencyKey, Original<R>> found = new LinkedHashMap<>();
        for (IdempotencyKey key : request.keys()) {
            Original<R> original = originals.get(key);
            if (original != null) {
                found.put(key, checked(key, original));
            }
        }
        if (found.isEmpty()) {
            return null;
        }
        Outcome<R> outcome = Judgement.answer(request, found);
        if (outcome instanceof Outcome.Refused) {
            return new Found<>(outcome, null, List.of(), List.of(), null);
        }
        return new Found<>(outcome, found.values().iterator().next(), List.copyOf(found.keySet()), List.of(), null);
    }

    @Override
    public void addNames(Handle handle, Request request, Found<R> found) {
        throw new IllegalStateException("the columns of a user's own table hold one key each");
    }

    @Override
    public @Nullable Duration retention() {
        return retention;
    }

    private static <R extends @Nullable Object> Original<R> checked(IdempotencyKey key, Original<R> original) {
        IdempotencyKey recordedAs = original.recordedAs();
        if (recordedAs != null && !recordedAs.equals(key)) {
            throw new StoreException(
                    "the row that was found for the key " + key + " is that of " + recordedAs + ": the columns of the"
                            + " unique key, or the finder, compare more loosely than byte for byte (case, accents,"
                            + " trailing blanks); give the columns an exact type or collation",
                    null);
        }
        return original;
    }

    static boolean isAlreadyStored(Throwable failure) {
        Throwable next = failure;
        for (int depth = 0; next != null && depth < 100; depth++) {
            if (next instanceof AlreadyStored) {
                return true;
            }
            next = next.getCause();
        }
        return false;
    }
}
