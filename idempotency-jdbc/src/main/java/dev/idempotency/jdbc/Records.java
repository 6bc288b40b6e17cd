package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** Where originals are kept: what differs between the user's own table and the library's. */
interface Records<R extends @Nullable Object> {

    /**
     * Stores the request as the first one, by running the action, inside the transaction of the handle.
     *
     * @param again whether an attempt before this one was refused, and no original was found
     * @return what is stored once the transaction commits
     */
    <X extends Exception> First<R> first(
            Handle handle, Request request, Action<? super Handle, ? extends R, X> action, boolean again) throws X;

    /** Whether {@link #first} is a single statement. */
    boolean isSingleStatement();

    /**
     * Stores requests that share no key as first ones, by running the action, inside the transaction of the handle.
     *
     * @param again whether an attempt before this one was refused, and no original was found
     * @return what is stored once the transaction commits; a request that is missing was there already
     */
    <X extends Exception> Map<Request, First<R>> firstAll(
            Handle handle, List<Request> requests, BatchAction<? super Handle, ? extends R, X> action, boolean again)
            throws X;

    /** Whether a failure of {@link #first}, or of the commit after it, may mean that a key is taken. */
    boolean refusedBy(Throwable failure);

    /**
     * Whether a failure of {@link #first}, or of {@link #firstAll} in a batch, may not have come about without a repeat: it
     * refuses, or the action has run before there was a key to stop it.
     */
    boolean mayStemFromRepeat(Throwable failure, boolean batch);

    /** Whether a failure that refuses may come from a constraint that has nothing to do with keys. */
    boolean otherConstraintsPossible();

    /** Reads the original, or originals; null if there is none. */
    @Nullable
    Found<R> find(Handle handle, Request request, boolean joined);

    /**
     * Reads the originals of requests that share no key, where there are any.
     *
     * @param unreadable told of requests whose original is there and can't be read, if that can be told of one alone
     */
    Map<Request, Found<R>> findAll(Handle handle, List<Request> requests, Consumer<Request> unreadable);

    /** Records more names of an original, inside the transaction of the handle. */
    void addNames(Handle handle, Request request, Found<R> found);

    @Nullable
    Duration retention();

    /**
     * What was stored.
     *
     * @param response what the action returned
     * @param kept the original, with a response that the caller can't change any more if there is a codec to copy it
     */
    record First<R extends @Nullable Object>(R response, Original<R> kept) {

        /** What is to be told of it, once it is committed. */
        Found<R> stored(Request request, @Nullable Duration retention) {
            return new Found<>(new Executed<>(response), kept, request.keys(), List.of(), retention);
        }
    }

    /**
     * What was found, or has just been stored.
     *
     * @param outcome the answer to the request
     * @param original the original to publish, unless the outcome is a refusal
     * @param names keys of the request under which it is recorded
     * @param unrecorded keys of the request that are to become names of it
     * @param remaining for how long it still counts, or null if without limit
     */
    record Found<R extends @Nullable Object>(
            Outcome<R> outcome,
            @Nullable Original<R> original,
            List<IdempotencyKey> names,
            List<IdempotencyKey> unrecorded,
            @Nullable Duration remaining) {

        /** The same, once the new names are committed. */
        Found<R> withNamesAdded() {
            List<IdempotencyKey> all = new ArrayList<>(names);
            all.addAll(unrecorded);
            return new Found<>(outcome, original, all, List.of(), remaining);
        }
    }
}
