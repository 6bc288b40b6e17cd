package dev.idempotency.window;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
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
