package dev.idempotency.window;

import dev.idempotency.IdempotencyKey;

/**
 * A key as a {@link CompactWindow} looks it up: with its hash, and with its ID as two numbers if that is a UUID in its
 * canonical form, 36 characters in lower case, from which they can be told exactly.
 */
final class Name {

    private static final int UUID_LENGTH = 36;

    /** The value of each hexadecimal digit in lower case, and -1 for every other character. */
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
            long first = number(id, 0, 8);
            long second = number(id, 9, 13);
            long third = number(id, 14, 18);
            long fourth = number(id, 19, 23);
            long fifth = number(id, 24, UUID_LENGTH);
            canonical = (first | second | third | fourth | fifth) >= 0;
            high = first << 32 | second << 16 | third;
            low = fourth << 48 | fifth;
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

    /** At most 12 hexadecimal digits as a number; negative if one of them is none. */
    private static long number(String text, int from, int to) {
        long number = 0;
        long wrong = 0;
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            long digit = c < DIGITS.length ? DIGITS[c] : -1;
            wrong |= digit;
            number = number << 4 | digit;
        }
        return wrong < 0 ? -1 : number;
    }

    private static byte[] digits() {
        byte[] digits = new byte[128];
        for (char c = 0; c < digits.length; c++) {
            boolean hexadecimal = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
            digits[c] = (byte) (hexadecimal ? Character.digit(c, 16) : -1);
        }
        return digits;
    }
}
