package dev.idempotency.window;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Original;
import dev.idempotency.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an entry, of which 47 are enough for the key "user-1234" + UUID and a response of 16:
 *
 * <ol>
 *   <li>one byte: what kind of identity follows, and whether there is a fingerprint, a response, a UUID,
 *   <li>the deadline as the {@link Log} counts it, a number of 2 or 3 bytes,
 *   <li>the key: the number of the namespace, or 0 and the namespace; the scope; the ID, as 16 bytes if it is a UUID,
 *   <li>the identity, as long as its kind says; the fingerprint, a byte with its length before it,
 *   <li>the response, a number with its length before it.
 * </ol>
 *
 * <p>Safe for use by any number of threads: an entry is not changed once it is written.
 */
final class Entries {

    /** The longest text that is kept as an identity, in bytes of UTF-8. */
    private static final int LONGEST_TEXT = 255;

    private static final int UNIQUE = 0;
    private static final int TOGETHER = 1;
    private static final int LONG = 2;
    private static final int INTEGER = 3;
    private static final int UUID_BYTES = 4;
    private static final int TEXT = 5;
    private static final int KINDS = 7;
    private static final int FINGERPRINT = 8;
    private static final int RESPONSE = 16;
    private static final int UUID_ID = 32;

    private final Object window;
    private final Namespaces namespaces;

    Entries(Object window, Namespaces namespaces) {
        this.window = window;
        this.namespaces = namespaces;
    }

    /** Whether an identity comes back as an equal one by itself. */
    static boolean isExact(Object identity) {
        return identity instanceof Long
                || identity instanceof UUID
                || identity instanceof Integer
                || (identity instanceof String text
                        && text.length() <= LONGEST_TEXT
                        && Cursor.sizeOfText(text) <= LONGEST_TEXT + 1
                        // An unpaired surrogate has no form in UTF-8.
                        && new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8).equals(text));
    }

    /** How many bytes an entry takes whose deadline is so far from when its chunk was begun. */
    int size(Name name, Value value, long distance) {
        int size = 2 + Cursor.sizeOfNumber(distance);
        if (namespaces.learn(name.key.namespace()) == Namespaces.NONE) {
            size += Cursor.sizeOfText(name.key.namespace());
        }
        size += Cursor.sizeOfText(name.key.scope())
                + (name.isUuid() ? 2 * Long.BYTES : Cursor.sizeOfText(name.key.id()));
        size += switch (kind(value.identity)) {
            case TOGETHER -> Cursor.sizeOfNumber(((Value.Together) value.identity).number());
            case LONG, INTEGER -> Cursor.sizeOfNumber(((Number) value.identity).longValue());
            case UUID_BYTES -> 2 * Long.BYTES;
            case TEXT -> Cursor.sizeOfText((String) value.identity);
            default -> 0;
        };
        if (value.fingerprint != null) {
            size += 1 + value.fingerprint.toBytes().length;
        }
        byte[] response = value.response;
        return response == null ? size : size + Cursor.sizeOfNumber(response.length) + response.length;
    }

    /** Writes an entry, and tells where it ends. */
    int write(byte[] bytes, int offset, Name name, Value value, long distance) {
        int kind = kind(value.identity);
        byte[] response = value.response;
        Cursor cursor = new Cursor(bytes, offset);
        cursor.writeByte(kind
                | (value.fingerprint == null ? 0 : FINGERPRINT)
                | (response == null ? 0 : RESPONSE)
                | (name.isUuid() ? UUID_ID : 0));
        cursor.writeNumber(distance);
        int namespace = namespaces.number(name.key.namespace());
        cursor.writeByte(namespace);
        if (namespace == Namespaces.NONE) {
            cursor.writeText(name.key.namespace());
        }
        cursor.writeText(name.key.scope());
        if (name.isUuid()) {
            cursor.writeLong(name.most);
            cursor.writeLong(name.least);
        } else {
            cursor.writeText(name.key.id());
        }
        writeIdentity(cursor, kind, value.identity);
        if (value.fingerprint != null) {
            byte[] digest = value.fingerprint.toBytes();
            cursor.writeByte(digest.length);
            cursor.writeBytes(digest);
        }
        if (response != null) {
            cursor.writeNumber(response.length);
            cursor.writeBytes(response);
        }
        return cursor.at();
    }

    private static void writeIdentity(Cursor cursor, int kind, Object identity) {
        switch (kind) {
            case TOGETHER -> cursor.writeNumber(((Value.Together) identity).number());
            case LONG, INTEGER -> cursor.writeNumber(((Number) identity).longValue());
            case UUID_BYTES -> {
                cursor.writeLong(((UUID) identity).getMostSignificantBits());
                cursor.writeLong(((UUID) identity).getLeastSignificantBits());
            }
            case TEXT -> cursor.writeText((String) identity);
            default -> {}
        }
    }

    /** Whether the entry that begins here is that of a key. */
    boolean isOf(byte[] bytes, int offset, Name name) {
        Cursor cursor = new Cursor(bytes, offset);
        boolean uuid = (cursor.readByte() & UUID_ID) != 0;
        if (uuid != name.isUuid()) {
            return false;
        }
        cursor.readNumber();
        int namespace = cursor.readByte();
        if (namespace == Namespaces.NONE
                ? !cursor.readIfText(name.key.namespace())
                : namespace != namespaces.number(name.key.namespace())) {
            return false;
        }
        return cursor.readIfText(name.key.scope())
                && (uuid
                        ? cursor.readLong() == name.most && cursor.readLong() == name.least
                        : cursor.readIfText(name.key.id()));
    }

    /**
     * Reads an entry, of which the kind and the deadline have been read.
     *
     * @throws RuntimeException what the codec throws
     */
    <R extends @Nullable Object> Original<R> read(Cursor cursor, int kind, Codec<R> codec) {
        if (cursor.readByte() == Namespaces.NONE) {
            cursor.skip(cursor.readByte());
        }
        cursor.skip(cursor.readByte());
        cursor.skip((kind & UUID_ID) != 0 ? 2 * Long.BYTES : cursor.readByte());
        Object identity = readIdentity(cursor, kind & KINDS);
        Fingerprint fingerprint =
                (kind & FINGERPRINT) == 0 ? null : Fingerprint.of(cursor.readBytes(cursor.readByte()));
        byte @Nullable [] response = (kind & RESPONSE) == 0 ? null : cursor.readBytes((int) cursor.readNumber());
        return new Original<>(identity, decoded(codec, response), fingerprint);
    }

    private Object readIdentity(Cursor cursor, int kind) {
        return switch (kind) {
            case TOGETHER -> new Value.Together(window, cursor.readNumber());
            case LONG -> cursor.readNumber();
            case INTEGER -> (int) cursor.readNumber();
            case UUID_BYTES -> new UUID(cursor.readLong(), cursor.readLong());
            case TEXT -> cursor.readText();
            default -> new Object();
        };
    }

    @SuppressWarnings("NullAway") // The null of a response that was null; R is what its user says may be null or not.
    private static <R extends @Nullable Object> R decoded(Codec<R> codec, byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        R response = codec.decode(bytes);
        if (response == null) {
            throw new StoreException("the codec decoded a response as null, which no codec may", null);
        }
        return response;
    }

    private static int kind(Object identity) {
        if (identity instanceof UUID) {
            return UUID_BYTES;
        }
        if (identity instanceof Long) {
            return LONG;
        }
        if (identity instanceof Integer) {
            return INTEGER;
        }
        if (identity instanceof String) {
            return TEXT;
        }
        return identity instanceof Value.Together ? TOGETHER : UNIQUE;
    }
}
