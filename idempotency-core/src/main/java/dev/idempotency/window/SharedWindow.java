package dev.idempotency.window;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A window that several processes share, and that tells how long an entry stays, so that another one can be kept in front of
 * it: see {@link TieredWindow}.
 *
 * @param <R> the response
 */
public interface SharedWindow<R extends @Nullable Object> extends Window<R> {

    /**
     * Looks a key up, as {@link #get} does.
     *
     * @param key the key
     * @return what is there, or null
     */
    @Nullable
    Held<R> held(IdempotencyKey key);

    @Override
    default @Nullable Original<R> get(IdempotencyKey key) {
        Held<R> held = held(key);
        return held == null ? null : held.original();
    }

    /**
     * Looks many keys up, as {@link #getAll} does.
     *
     * @param keys the keys
     * @return for each of the keys, in their order, what is there, or null
     */
    default List<@Nullable Held<R>> heldAll(List<IdempotencyKey> keys) {
        List<@Nullable Held<R>> found = new ArrayList<>(keys.size());
        for (IdempotencyKey key : keys) {
            found.add(held(key));
        }
        return found;
    }

    @Override
    default List<@Nullable Original<R>> getAll(List<IdempotencyKey> keys) {
        List<@Nullable Original<R>> found = new ArrayList<>(keys.size());
        for (Held<R> held : heldAll(keys)) {
            found.add(held == null ? null : held.original());
        }
        return found;
    }

    /**
     * An entry.
     *
     * @param original the original
     * @param remaining for how much longer the entry stays, at the least, from when it was asked for
     * @param <R> the response
     */
    record Held<R extends @Nullable Object>(Original<R> original, Duration remaining) {}

    /** How to make one. */
    interface Spec extends Window.Spec {
        @Override
        <R extends @Nullable Object> SharedWindow<R> create();
    }
}
