package dev.idempotency;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a key was first used for: the record or row that is stored, and the response that it got.
 *
 * @param identity what tells this record from every other one, such as its primary key; two originals are the
 *     same exactly if their identities are equal
 * @param response the response that the first request got
 * @param fingerprint the fingerprint of the first request, or null if none was kept
 * @param recordedAs the key as the record itself spells it, or null if the finder can't tell. Where it is given
 *     and is not byte for byte the key that was asked for, the record is that of another message: the columns
 *     compare more loosely than keys do (case, accents, trailing blanks)
 * @param <R> the response
 */
public record Original<R extends @Nullable Object>(
        Object identity,
        R response,
        @Nullable Fingerprint fingerprint,
        @Nullable IdempotencyKey recordedAs) {

    /** Checks that there is an identity. */
    public Original {
        Objects.requireNonNull(identity, "identity");
    }

    /**
     * An original whose finder compares keys exactly by itself.
     *
     * @param identity what tells this record from every other one
     * @param response the response that the first request got
     * @param fingerprint the fingerprint of the first request, or null if none was kept
     */
    public Original(Object identity, R response, @Nullable Fingerprint fingerprint) {
        this(identity, response, fingerprint, null);
    }

    /**
     * An original with the key as its record spells it, so that the library can hold it against the key that was
     * asked for.
     *
     * @param key the key, made of the values in the record
     * @return a new original
     */
    public Original<R> recordedAs(IdempotencyKey key) {
        return new Original<>(identity, response, fingerprint, Objects.requireNonNull(key, "key"));
    }

    /** Names the identity, and not the response, which may be private. */
    @Override
    public String toString() {
        return "Original[" + identity + "]";
    }
}
