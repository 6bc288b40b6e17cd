package dev.idempotency;

import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * How a store tells what is committed, so that the window may know it. Telling nothing is always safe.
 *
 * @param <R> the response
 */
@FunctionalInterface
public interface Publication<R extends @Nullable Object> {

    /**
     * Tells that an original is committed. It is to be called only when the commit is known to have succeeded, and
     * only with names that the store has recorded. Never throws.
     *
     * @param names keys under which the store finds this original from now on
     * @param original the original
     * @param remaining for how much longer the store keeps it, by the store's own clock, measured at any time since
     *     {@code execute} was called; null if without limit
     */
    void committed(Collection<IdempotencyKey> names, Original<? extends R> original, @Nullable Duration remaining);
}
