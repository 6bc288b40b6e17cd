package dev.idempotency.window;

import dev.idempotency.IdempotencyKey;
import java.util.Arrays;

/**
 * A key as a {@link CompactWindow} looks it up: with its hash, and with its ID as two numbers if that is a UUID in its
 * canonical form, 36 characters in lower case, from which they can be told exactly.
 */
final class Name {

    private static final int UUID_LENGTH = 36;

    /** What each character is as a hexadecimal digit in lower case, or -1. */
    private static final byte[] DIGITS = digits();

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
            long first = hexadecimal(id, 0, 8);
            long second = hexadecimal(id, 9, 13) << 16 | hexadecimal(id, 14, 18);
            long third = hexadecimal(id, 19, 23) << 16 | hexadecimal(id, 24, 28);
            long fourth = hexadecimal(id, 28, 36);
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

    /** Hexadecimal digits in lower case as a number, at most eight, or a negative one if they are none. */
    private static long hexadecimal(String text, int from, int to) {
        long number = 0;
        for (int at = from; at < to; at++) {
            char digit = text.charAt(at);
            if (digit >= DIGITS.length) {
                return -1;
            }
            // What is none is -1, and no shift that follows makes that positive again.
            number = number << 4 | DIGITS[digit];
        }
        return number;
    }

    private static byte[] digits() {
        byte[] digits = new byte['f' + 1];
        Arrays.fill(digits, (byte) -1);
        for (int i = 0; i < 16; i++) {
            digits[Character.forDigit(i, 16)] = (byte) i;
        }
        return digits;
    }
}
