package dev.idempotency.benchmarks.window;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import java.util.UUID;

/**
 * Messages by their number: the key "im" / "user-1234" / a UUID that looks random, and a response of 16 bytes. Each call
 * makes new texts, as a service does for each message that it receives.
 */
final class Messages {

    static final int RESPONSE_BYTES = 16;

    /** What an entry is about: "user-1234", the UUID's 16 bytes, and the response. */
    static final int PAYLOAD_BYTES = "user-1234".length() + 2 * Long.BYTES + RESPONSE_BYTES + 1;

    private Messages() {}

    static IdempotencyKey key(long number) {
        return IdempotencyKey.of("im", sender(number), id(number).toString());
    }

    static String sender(long number) {
        return "user-" + (1_000 + Math.floorMod(number, 9_000));
    }

    static UUID id(long number) {
        return new UUID(mixed(number), mixed(~number));
    }

    static byte[] response(long number) {
        byte[] response = new byte[RESPONSE_BYTES];
        response[0] = (byte) number;
        return response;
    }

    /** As the store on an own table publishes it: with an identity of its own. */
    static Original<byte[]> original(long number) {
        return new Original<>(new Object(), response(number), null);
    }

    /** The finaliser of SplitMix64 (Steele and others, 2014). */
    static long mixed(long number) {
        long z = number * 0x9E3779B97F4A7C15L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
