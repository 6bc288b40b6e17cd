package dev.idempotency.jdbc;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Makes identities of records: UUIDs of version 7 (RFC 9562), which begin with the time in milliseconds, so that new ones go to
 * the end of the index on them. Those made together count up from one; what is unique about that is 73 random bits. A clock
 * that is wrong or set back costs the order and nothing else. Safe for use by any number of threads.
 */
final class RecordIds {

    private static final SecureRandom RANDOM = new SecureRandom();

    /** Version 7, and above it 48 bits of time. */
    private static final long VERSION = 0x7000L;

    /** The variant of RFC 9562; the bit after it is left free, so that counting up does not reach it. */
    private static final long VARIANT = 1L << 63;

    private RecordIds() {}

    static UUID next() {
        return next(1).get(0);
    }

    /** So many, each greater than the one before. */
    static List<UUID> next(int count) {
        byte[] bytes = new byte[Short.BYTES + Long.BYTES];
        RANDOM.nextBytes(bytes);
        ByteBuffer random = ByteBuffer.wrap(bytes);
        long high = Instant.now().toEpochMilli() << 16 | VERSION | (random.getShort() & 0xfffL);
        long low = VARIANT | random.getLong() >>> 3;
        List<UUID> ids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            ids.add(new UUID(high, low + i));
        }
        return ids;
    }
}
