package dev.idempotency.window;

/**
 * A keyed hash of 64 bits over the parts of a key, eight characters at a time, by multiplying and folding the 128-bit
 * product. The key is random for each window, so that a sender can't choose IDs that collide.
 */
final class KeyHash {

    private final long first;
    private final long second;
    private final long mask;

    /** A hash of which only the bits of a mask are used: a test makes keys collide. */
    KeyHash(long seed, long mask) {
        // Any odd constants with well mixed bits do: these are fractions of the golden ratio and of the root of 3.
        this.first = fold(seed ^ 0x9E3779B97F4A7C15L, 0xBB67AE8584CAA73BL);
        this.second = fold(seed ^ 0xBB67AE8584CAA73BL, 0x9E3779B97F4A7C15L);
        this.mask = mask;
    }

    long of(String namespace, String scope, String id) {
        return ended(text(text(text(first, namespace), scope), id));
    }

    /** The hash of a key whose ID is a UUID. */
    long of(String namespace, String scope, long most, long least) {
        return ended(fold(most ^ second, least ^ text(text(first, namespace), scope)));
    }

    private long ended(long hash) {
        return fold(hash ^ first, second) & mask;
    }

    /** Goes on over a text; its length comes first, so that no two lists of parts are one sequence. */
    private long text(long begun, String text) {
        int length = text.length();
        long hash = begun ^ length * 0x9E3779B97F4A7C15L;
        int last = length - 8;
        for (int at = 0; at < last; at += 8) {
            hash = fold(four(text, at) ^ second, four(text, at + 4) ^ hash);
        }
        // The last eight overlap those before them; in a shorter text, the last four the first four.
        long a;
        long b;
        if (length >= 4) {
            a = four(text, Math.max(last, 0));
            b = four(text, length - 4);
        } else {
            a = length == 0 ? 0 : text.charAt(0);
            b = length == 0 ? 0 : (long) text.charAt(length >> 1) << 16 | text.charAt(length - 1);
        }
        return fold(a ^ second, b ^ hash);
    }

    private static long four(String text, int at) {
        return text.charAt(at)
                | (long) text.charAt(at + 1) << 16
                | (long) text.charAt(at + 2) << 32
                | (long) text.charAt(at + 3) << 48;
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.multiplyHigh(a, b);
    }
}
