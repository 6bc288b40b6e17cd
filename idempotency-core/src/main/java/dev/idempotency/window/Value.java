package dev.idempotency.window;

import dev.idempotency.Fingerprint;
import org.jspecify.annotations.Nullable;

/** What a {@link CompactWindow} keeps of an original. */
final class Value {

    /** One that {@link Entries} has a form for, or any other: that one equals nothing when it is read. */
    final Object identity;

    final @Nullable Fingerprint fingerprint;

    /** The response as the codec encoded it, or null for null. */
    final byte @Nullable [] response;

    Value(Object identity, @Nullable Fingerprint fingerprint, byte @Nullable [] response) {
        this.identity = identity;
        this.fingerprint = fingerprint;
        this.response = response;
    }

    /**
     * The identity of a record whose own can't be kept as bytes: the same for all keys that were put at once.
     *
     * @param window where; a number says nothing in another window
     * @param number which of them
     */
    record Together(Object window, long number) {}
}
