package dev.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The name that a sender gave to one message before it first sent it, and never changes on a resend.
 *
 * <p>An ID alone is not enough: two senders may use the same one, and one sender may use it for two
 * operations. So a key has three parts, compared byte for byte in UTF-8, with no trimming, no case folding
 * and no normalisation:
 *
 * <ul>
 *   <li>{@code namespace}: <em>what</em> the ID names, a layer or an operation, such as {@code "im"} or
 *       {@code "payment"}; at most {@value #MAX_NAMESPACE_BYTES} bytes,
 *   <li>{@code scope}: <em>whose</em> ID it is, such as a sender or a tenant; at most {@value
 *       #MAX_SCOPE_BYTES} bytes,
 *   <li>{@code id}: the sender's own ID; at most {@value #MAX_ID_BYTES} bytes.
 * </ul>
 *
 * <p>No part may be null, blank, contain NUL or an unpaired surrogate. Since NUL is forbidden, {@code
 * namespace NUL scope NUL id} is one unambiguous sequence of bytes: see {@link #toBytes()}.
 *
 * @param namespace what the ID names
 * @param scope whose ID it is
 * @param id the sender's ID
 */
public record IdempotencyKey(String namespace, String scope, String id) implements Comparable<IdempotencyKey> {

    /** The longest {@link #namespace()}, in bytes of UTF-8. */
    public static final int MAX_NAMESPACE_BYTES = 64;

    /** The longest {@link #scope()}, in bytes of UTF-8. */
    public static final int MAX_SCOPE_BYTES = 191;

    /** The longest {@link #id()}, in bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 255;

    /** The longest {@link #toBytes()}: the three parts and two NULs between them. */
    public static final int MAX_BYTES = MAX_NAMESPACE_BYTES + 1 + MAX_SCOPE_BYTES + 1 + MAX_ID_BYTES;

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if a part is null, blank, too long, or contains NUL or an unpaired
     *     surrogate; the message names the part and does not print its whole value
     */
    public IdempotencyKey {
        check("namespace", namespace, MAX_NAMESPACE_BYTES);
        check("scope", scope, MAX_SCOPE_BYTES);
        check("id", id, MAX_ID_BYTES);
    }

    /**
     * Names a message.
     *
     * @param namespace what the ID names
     * @param scope whose ID it is
     * @param id the sender's ID
     * @return the key
     * @throws IllegalArgumentException as the constructor does
     */
    public static IdempotencyKey of(String namespace, String scope, String id) {
        return new IdempotencyKey(namespace, scope, id);
    }

    /**
     * The key as one sequence of bytes: the parts in UTF-8, in order, with one NUL between them. Two keys
     * are equal exactly if these bytes are, and {@link #compareTo} orders keys as unsigned bytes would be.
     *
     * @return a new array of at most {@value #MAX_BYTES} bytes
     */
    public byte[] toBytes() {
        return (namespace + '\0' + scope + '\0' + id).getBytes(StandardCharsets.UTF_8);
    }

    /** Orders keys as the unsigned bytes of {@link #toBytes()}; every store takes keys in this order. */
    @Override
    public int compareTo(IdempotencyKey other) {
        int byNamespace = compareCodePoints(namespace, other.namespace);
        if (byNamespace != 0) {
            return byNamespace;
        }
        int byScope = compareCodePoints(scope, other.scope);
        return byScope != 0 ? byScope : compareCodePoints(id, other.id);
    }

    /** Tells the key from most others in a log, without printing it whole: the namespace, and how the others begin. */
    @Override
    public String toString() {
        return printable(namespace) + '/' + abridged(scope) + '/' + abridged(id);
    }

    /** UTF-8 keeps the order of code points, which that of Java's chars is not (surrogates). */
    private static int compareCodePoints(String a, String b) {
        int common = Math.min(a.length(), b.length());
        for (int i = 0; i < common; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                boolean surrogateX = Character.isSurrogate(x);
                return surrogateX == Character.isSurrogate(y) ? Character.compare(x, y) : surrogateX ? 1 : -1;
            }
        }
        return Integer.compare(a.length(), b.length());
    }

    private static void check(String part, String value, int maxBytes) {
        // Parts come from outside, so a null is bad input like any other, not a programming error.
        if (Objects.isNull(value)) {
            throw new IllegalArgumentException(part + " is null; give the " + part + " that the sender gave");
        }
        // No char takes more than three bytes, and none less than one: most values are decided without counting.
        if (value.length() > maxBytes || (value.length() * 3 > maxBytes && utf8Length(value) > maxBytes)) {
            throw new IllegalArgumentException(part + " " + abridged(value) + " is too long: at most " + maxBytes
                    + " bytes of UTF-8 are allowed; shorten or hash it before it becomes a key");
        }
        int length = value.length();
        int start = 0;
        while (start < length && isPlain(value.charAt(start))) {
            start++;
        }
        boolean blank = start == 0;
        for (int i = start; i < length; i++) {
            char c = value.charAt(i);
            if (c == '\0') {
                throw new IllegalArgumentException(part + " contains NUL at index " + i + ", which is not allowed");
            }
            if (Character.isSurrogate(c)) {
                if (Character.isLowSurrogate(c) || i + 1 == length || !Character.isLowSurrogate(value.charAt(i + 1))) {
                    throw new IllegalArgumentException(part + " has an unpaired surrogate at index " + i
                            + ", which has no form in UTF-8; it was cut inside a character");
                }
                i++;
                blank = false;
            } else {
                blank &= Character.isWhitespace(c);
            }
        }
        if (blank) {
            throw new IllegalArgumentException(part + (value.isEmpty() ? " is empty" : " is blank") + "; give the "
                    + part + " that the sender gave");
        }
    }

    /** A printable character of ASCII, as nearly all are: none of what is checked for. */
    private static boolean isPlain(char c) {
        return (char) (c - '!') <= '~' - '!';
    }

    private static int utf8Length(String value) {
        int bytes = 0;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }

    private static String abridged(String value) {
        return printable(value.substring(0, Math.min(8, value.length() / 2))) + "…(" + value.length() + ")";
    }

    private static String printable(String value) {
        StringBuilder clean = new StringBuilder(value.length());
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            clean.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
        }
        return clean.toString();
    }
}
