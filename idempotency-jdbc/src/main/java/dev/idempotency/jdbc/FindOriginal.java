package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Reads from the user's own table the row that a key was first used for, and makes the response of it.
 *
 * <p>It is called after the unique key has refused an insert, on the connection that saw the refusal: outside any
 * transaction where the store owns it, inside the caller's after a rollback to a savepoint where the call is joined. It
 * only reads. It should compare exactly, and may give {@link Original#recordedAs the key as the row spells it}, so that
 * the library can check that it did. Requests that carry a fingerprint need a column for it, and the finder gives it back;
 * otherwise only the window tells a changed payload, for as long as it remembers.
 *
 * <p>For joined calls above READ COMMITTED, let the statement lock the row ({@code FOR UPDATE}): on some databases only a
 * locking read shows what was committed after the caller's snapshot.
 *
 * @param <R> the response
 */
@FunctionalInterface
public interface FindOriginal<R extends @Nullable Object> {

    /**
     * Finds the original.
     *
     * @param handle to read with
     * @param key one key of the request; look at its {@link IdempotencyKey#namespace() namespace} to tell layers apart
     * @return the original, with the row's primary key as its identity; empty if no row has this key
     */
    Optional<Original<R>> find(Handle handle, IdempotencyKey key);

    /**
     * Finds the originals of many keys, for a batch. This one asks for one after the other; where batches meet repeats often,
     * one statement does better.
     *
     * @param handle to read with
     * @param keys the keys, all different
     * @return the originals that there are, by the keys that found them
     */
    default Map<IdempotencyKey, Original<R>> findAll(Handle handle, List<IdempotencyKey> keys) {
        Map<IdempotencyKey, Original<R>> found = new HashMap<>();
        for (IdempotencyKey key : keys) {
            find(handle, key).ifPresent(original -> found.put(key, original));
        }
        return found;
    }
}
