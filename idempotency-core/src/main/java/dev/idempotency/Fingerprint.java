package dev.idempotency;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A digest of what a request asks for, so that the same key with another payload is told from a repeat.
 *
 * <p>Fingerprints are compared only where both the request and the original have one. Take the digest over
 * exactly what must not change on a resend; leave out what may, such as the time of sending.
 *
 * <p>Immutable, and safe for use by any number of threads.
 */
public final class Fingerprint {

    /** The longest fingerprint, in bytes: that of SHA-512. */
    public static final int MAX_BYTES = 64;

    private final byte[] bytes;

    private Fingerprint(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * The SHA-256 digest of a payload.
     *
     * @param payload what must be the same on a resend; not kept
     * @return its fingerprint, of 32 bytes
     */
    public static Fingerprint sha256(byte[] payload) {
        Objects.requireNonNull(payload, "payload");
        try {
            return new Fingerprint(MessageDigest.getInstance("SHA-256").digest(payload));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * The SHA-256 digest of a text in UTF-8.
     *
     * @param payload what must be the same on a resend
     * @return its fingerprint, of 32 bytes
     */
    public static Fingerprint sha256(String payload) {
        return sha256(Objects.requireNonNull(payload, "payload").getBytes(StandardCharsets.UTF_8));
    }

    /**
     * A digest that was made elsewhere.
     *
     * @param digest 1 to {@value #MAX_BYTES} bytes; copied
     * @return the fingerprint
     * @throws IllegalArgumentException if the digest is empty or longer than that
     */
    public static Fingerprint of(byte[] digest) {
        Objects.requireNonNull(digest, "digest");
        if (digest.length == 0 || digest.length > MAX_BYTES) {
            throw new IllegalArgumentException("a fingerprint has 1 to " + MAX_BYTES + " bytes, this digest has "
                    + digest.length + "; digest the payload first, as Fingerprint.sha256 does");
        }
        return new Fingerprint(digest.clone());
    }

    /**
     * The digest.
     *
     * @return a new array
     */
    public byte[] toBytes() {
        return bytes.clone();
    }

    /**
     * Whether two fingerprints contradict each other: both are there, and they differ.
     *
     * @param a one, or null for none
     * @param b the other, or null for none
     * @return true if both are present and not equal
     */
    public static boolean differ(@Nullable Fingerprint a, @Nullable Fingerprint b) {
        return a != null && b != null && !a.equals(b);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Fingerprint that && MessageDigest.isEqual(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The first bytes in hexadecimal: enough to tell two apart in a log. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, 4)) + (bytes.length > 4 ? "…" : "");
    }
}
