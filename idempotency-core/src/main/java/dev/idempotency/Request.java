package dev.idempotency;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a sender sent, as far as the library looks at it: one to {@value #MAX_KEYS} keys, any of which finds
 * the original, and optionally a fingerprint of the payload.
 *
 * <p>Immutable, and safe for use by any number of threads.
 */
public final class Request {

    /** The most keys that a request may carry. */
    public static final int MAX_KEYS = 4;

    private final List<IdempotencyKey> keys;
    private final @Nullable Fingerprint fingerprint;

    /** Batches look a request up many times. 0 until it is asked for; whichever thread makes it makes the same. */
    private int hash;

    private Request(List<IdempotencyKey> keys, @Nullable Fingerprint fingerprint) {
        this.keys = keys;
        this.fingerprint = fingerprint;
    }

    /**
     * A request with one key.
     *
     * @param key the name that the sender gave to the message
     * @return the request
     */
    public static Request of(IdempotencyKey key) {
        return new Request(List.of(Objects.requireNonNull(key, "key")), null);
    }

    /**
     * The same request with one more key, such as the ID that a business system gave to what the message is
     * about.
     *
     * @param key another name for the same thing
     * @return a new request
     * @throws IllegalArgumentException if the request has this key already, or {@value #MAX_KEYS} others
     */
    public Request and(IdempotencyKey key) {
        Objects.requireNonNull(key, "key");
        if (keys.contains(key)) {
            throw new IllegalArgumentException(
                    "the request has the key " + key + " already; two layers of IDs need two namespaces");
        }
        if (keys.size() == MAX_KEYS) {
            throw new IllegalArgumentException("a request may carry at most " + MAX_KEYS + " keys");
        }
        List<IdempotencyKey> more = new ArrayList<>(keys);
        more.add(key);
        return new Request(List.copyOf(more), fingerprint);
    }

    /**
     * The same request with one more key if there is one.
     *
     * @param key another name for the same thing, or empty if the sender gave none
     * @return a new request, or this one
     * @throws IllegalArgumentException as {@link #and} does
     */
    public Request andIfPresent(Optional<IdempotencyKey> key) {
        return key.map(this::and).orElse(this);
    }

    /**
     * The same request with a fingerprint of its payload, in place of one that it may have.
     *
     * @param fingerprint what the payload of a resend must match
     * @return a new request
     */
    public Request fingerprint(Fingerprint fingerprint) {
        return new Request(keys, Objects.requireNonNull(fingerprint, "fingerprint"));
    }

    /**
     * The keys, in the order in which they were given.
     *
     * @return an unmodifiable list of one to {@value #MAX_KEYS} different keys
     */
    public List<IdempotencyKey> keys() {
        return keys;
    }

    /**
     * The keys in the order of their bytes, in which every store takes them, so that two requests that share
     * keys can't wait for each other.
     *
     * @return an unmodifiable list
     */
    public List<IdempotencyKey> keysInByteOrder() {
        return keys.size() == 1 ? keys : keys.stream().sorted().toList();
    }

    /**
     * The fingerprint of the payload.
     *
     * @return the fingerprint, or null if the request has none
     */
    public @Nullable Fingerprint fingerprint() {
        return fingerprint;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Request that && keys.equals(that.keys) && Objects.equals(fingerprint, that.fingerprint);
    }

    @Override
    public int hashCode() {
        if (hash == 0) {
            hash = 31 * keys.hashCode() + Objects.hashCode(fingerprint);
        }
        return hash;
    }

    @Override
    public String toString() {
        return "Request" + keys + (fingerprint == null ? "" : " with fingerprint " + fingerprint);
    }
}
