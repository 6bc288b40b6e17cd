package dev.idempotency.window;

import dev.idempotency.IdempotencyKey;

/**
 * A key as a {@link CompactWindow} looks it up: with its hash, and with its ID as two numbers if that is a UUID in its
 * canonical form, 36 characters in lower case, from which they can be told exactly.
 */
final class Name {

    private static final int UUID_LENGTH = 36;

    /** One in each of four lanes of 16 bits. */
    private static final long ONES = 0x0001_0001_0001_0001L;

    final IdempotencyKey key;
    final long hash;

    /** The UUID, or 0 and 0 if the ID is none, or the one of zeros, which is kept as the text that it is. */
    final long most;

    final long least;

    Name(IdempotencyKey key, KeyHash hashing) {
        this.key = key;
        String id = key.id();
        long high = 0;
        long low = 0;
        boolean canonical = id.length() == UUID_LENGTH
                && id.charAt(8) == '-'
                && id.charAt(13) == '-'
                && id.charAt(18) == '-'
                && id.charAt(23) == '-';
        if (canonical) {
            long first = hexadecimal(id, 0) << 16 | hexadecimal(id, 4);
            long second = hexadecimal(id, 9) << 16 | hexadecimal(id, 14);
            long third = hexadecimal(id, 19) << 16 | hexadecimal(id, 24);
            long fourth = hexadecimal(id, 28) << 16 | hexadecimal(id, 32);
            canonical = (first | second | third | fourth) >= 0;
            high = first << 32 | second;
            low = third << 32 | fourth;
        }
        this.most = canonical ? high : 0;
        this.least = canonical ? low : 0;
        this.hash = canonical
                ? hashing.of(key.namespace(), key.scope(), high, low)
                : hashing.of(key.namespace(), key.scope(), id);
    }

    boolean isUuid() {
        return (most | least) != 0;
    }

    /** Four hexadecimal digits in lower case as a number, or a negative one if they are none: all four at once. */
    private static long hexadecimal(String text, int at) {
        long characters = (long) text.charAt(at) << 48
                | (long) text.charAt(at + 1) << 32
                | (long) text.charAt(at + 2) << 16
                | text.charAt(at + 3);
        long digits = (characters & 0xF * ONES) + 9 * ((characters >>> 6) & ONES);
        long letters = ((digits + 6 * ONES) >>> 4) & ONES;
        // What these digits are written as tells whether it was digits; 'g' would be a sixteenth one.
        long written = digits + '0' * ONES + ('a' - '0' - 10) * letters;
        if (written != characters || (digits & ~(0xF * ONES)) != 0) {
            return -1;
        }
        long pairs = digits | digits >>> 12;
        return ((pairs >>> 24) & 0xFF00) | (pairs & 0xFF);
    }
}
