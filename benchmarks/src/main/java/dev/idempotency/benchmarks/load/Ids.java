package dev.idempotency.benchmarks.load;

import java.util.UUID;

/** IDs by their number: the same number gives the same ID, and IDs of other numbers look as if they were random. */
enum Ids {
    /** Random ones (UUIDv4): each lands anywhere in the unique key's index. */
    RANDOM(70) {
        @Override
        UUID id(long number) {
            return uuid(mixed(number), 0x4000, mixed(~number));
        }
    },
    /** Ones that grow with time (UUIDv7, RFC 9562): the milliseconds first, and 14 messages in each. */
    TIME_ORDERED(90) {
        @Override
        UUID id(long number) {
            long millis = FIRST_MILLIS + number / MESSAGES_A_MILLI;
            return uuid((millis << 16) | (mixed(number) & 0xFFFF), 0x7000, mixed(~number));
        }
    };

    private static final long FIRST_MILLIS = 1_767_225_600_000L;
    private static final int MESSAGES_A_MILLI = 14;

    /** How full, in percent, a unique key's index gets by inserts. */
    final int fillFactor;

    Ids(int fillFactor) {
        this.fillFactor = fillFactor;
    }

    abstract UUID id(long number);

    private static UUID uuid(long high, int version, long low) {
        return new UUID((high & ~0xF000L) | version, (low & 0x3FFF_FFFF_FFFF_FFFFL) | Long.MIN_VALUE);
    }

    /** The finaliser of SplitMix64 (Steele and others, 2014). */
    static long mixed(long number) {
        long z = number * 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
