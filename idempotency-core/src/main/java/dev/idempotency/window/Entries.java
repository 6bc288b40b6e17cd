package dev.idempotency.window;

import dev.idempotency.Fingerprint;
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
 * <p>Not safe for use by several threads: it has one cursor.
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
    private final Cursor cursor = new Cursor();

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
        size += Cursor.sizeOfText(name.key.scope()) + (name.uuid ? 2 * Long.BYTES : Cursor.sizeOfText(name.key.id()));
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
        cursor.on(bytes, offset);
        cursor.writeByte(kind
                | (value.fingerprint == null ? 0 : FINGERPRINT)
                | (response == null ? 0 : RESPONSE)
                | (name.uuid ? UUID_ID : 0));
        cursor.writeNumber(distance);
        int namespace = namespaces.number(name.key.namespace());
        cursor.writeByte(namespace);
        if (namespace == Namespaces.NONE) {
            cursor.writeText(name.key.namespace());
        }
        cursor.writeText(name.key.scope());
        if (name.uuid) {
            cursor.writeLong(name.most);
            cursor.writeLong(name.least);
        } else {
            cursor.writeText(name.key.id());
        }
        writeIdentity(kind, value.identity);
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

    private void writeIdentity(int kind, Object identity) {
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
        cursor.on(bytes, offset);
        boolean uuid = (cursor.readByte() & UUID_ID) != 0;
        if (uuid != name.uuid) {
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

    /** How far the deadline of the entry that begins here is from when its chunk was begun. */
    long distance(byte[] bytes, int offset) {
        return cursor.on(bytes, offset + 1).readNumber();
    }

    Value read(byte[] bytes, int offset) {
        cursor.on(bytes, offset);
        int kind = cursor.readByte();
        cursor.readNumber();
        if (cursor.readByte() == Namespaces.NONE) {
            cursor.skip(cursor.readByte());
        }
        cursor.skip(cursor.readByte());
        cursor.skip((kind & UUID_ID) != 0 ? 2 * Long.BYTES : cursor.readByte());
        Object identity = readIdentity(kind & KINDS);
        Fingerprint fingerprint =
                (kind & FINGERPRINT) == 0 ? null : Fingerprint.of(cursor.readBytes(cursor.readByte()));
        byte @Nullable [] response = (kind & RESPONSE) == 0 ? null : cursor.readBytes((int) cursor.readNumber());
        return new Value(identity, fingerprint, response);
    }

    private Object readIdentity(int kind) {
        return switch (kind) {
            case TOGETHER -> new Value.Together(window, cursor.readNumber());
            case LONG -> cursor.readNumber();
            case INTEGER -> (int) cursor.readNumber();
            case UUID_BYTES -> new UUID(cursor.readLong(), cursor.readLong());
            case TEXT -> cursor.readText();
            default -> new Object();
        };
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
