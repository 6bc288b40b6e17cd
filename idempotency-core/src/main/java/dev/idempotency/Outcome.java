package dev.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a request was answered. A repeat is a normal event and no exception.
 *
 * <p>{@link Executed} and {@link Replayed} carry the same response; most callers need only {@link #response()}.
 * Where several reasons to refuse hold, {@link Conflict} goes before {@link Mismatch}, that before {@link
 * InProgress}, and that before a replay.
 *
 * @param <R> the response
 */
public sealed interface Outcome<R extends @Nullable Object> {

    /**
     * The response, whether the action ran now or had run before.
     *
     * @return the response
     * @throws RefusedException if this is a {@link Refused}
     */
    R response();

    /** Which part of the library recognised a repeat. */
    enum Source {
        /** The window of recent keys: no store was asked. */
        WINDOW,
        /** The store: its unique key stopped the repeat, and the original was read. */
        STORE
    }

    /**
     * The action ran, and what it did is stored (or will be, when the caller's transaction that it joined
     * commits).
     *
     * @param response what the action returned
     * @param <R> the response
     */
    record Executed<R extends @Nullable Object>(R response) implements Outcome<R> {
        /** Does not print the response, which may be private. */
        @Override
        public String toString() {
            return "Executed";
        }
    }

    /**
     * An original is stored, and this is its response; nothing that the action may have done in this call is.
     *
     * @param response the response that the first request got
     * @param matched the key that found the original: the first such one in the request's order
     * @param source which part recognised it
     * @param <R> the response
     */
    record Replayed<R extends @Nullable Object>(R response, IdempotencyKey matched, Source source)
            implements Outcome<R> {
        /** Checks that a key and a source are given. */
        public Replayed {
            Objects.requireNonNull(matched, "matched");
            Objects.requireNonNull(source, "source");
        }

        /** Does not print the response, which may be private. */
        @Override
        public String toString() {
            return "Replayed[" + matched + " by the " + source + "]";
        }
    }

    /**
     * The request got no response, and nothing was changed.
     *
     * @param <R> the response
     */
    sealed interface Refused<R extends @Nullable Object> extends Outcome<R> {
        @Override
        default R response() {
            throw new RefusedException(this);
        }
    }

    /**
     * Another call with this key is still running.
     *
     * @param key the key that is in use
     * @param retryAfter how long to wait before it is worth asking again; positive
     * @param <R> the response
     */
    record InProgress<R extends @Nullable Object>(IdempotencyKey key, Duration retryAfter) implements Refused<R> {
        /** Checks that a key and a positive time are given. */
        public InProgress {
            Objects.requireNonNull(key, "key");
            if (retryAfter.isZero() || retryAfter.isNegative()) {
                throw new IllegalArgumentException("retryAfter is a positive time, not " + retryAfter);
            }
        }
    }

    /**
     * The key was used before for a request with another fingerprint.
     *
     * @param key the key
     * @param <R> the response
     */
    record Mismatch<R extends @Nullable Object>(IdempotencyKey key) implements Refused<R> {
        /** Checks that a key is given. */
        public Mismatch {
            Objects.requireNonNull(key, "key");
        }
    }

    /**
     * The keys of this one request belong to different originals, so that there is no one response to give.
     *
     * @param keys the keys that are taken, in the request's order; at least two
     * @param <R> the response
     */
    record Conflict<R extends @Nullable Object>(List<IdempotencyKey> keys) implements Refused<R> {
        /** Copies the keys, and checks that there are two at least. */
        public Conflict {
            keys = List.copyOf(keys);
            if (keys.size() < 2) {
                throw new IllegalArgumentException("a conflict is between two keys at least, not " + keys);
            }
        }
    }
}
