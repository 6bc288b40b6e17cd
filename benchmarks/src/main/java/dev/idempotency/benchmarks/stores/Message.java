package dev.idempotency.benchmarks.stores;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Request;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What a sender sends: an ID that no other message has, or one of those that were stored before.
 *
 * @param sender who
 * @param id what it calls the message
 */
public record Message(String sender, String id) {

    /** How many messages are stored before the repeats of them are measured. */
    static final int STORED = 10_000;

    static Message fresh() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new Message("user-1234", new UUID(random.nextLong(), random.nextLong()).toString());
    }

    static Message stored(int number) {
        return new Message("user-1234", new UUID(0, number).toString());
    }

    static Message repeated() {
        return stored(ThreadLocalRandom.current().nextInt(STORED));
    }

    IdempotencyKey key() {
        return IdempotencyKey.of("im", sender, id);
    }

    /**
     * The request for it.
     *
     * @return a request with its one key
     */
    public Request request() {
        return Request.of(key());
    }

    static String idOf(Request request) {
        return request.keys().get(0).id();
    }

    /**
     * What it says.
     *
     * @return a text
     */
    public String body() {
        return "a body of some forty characters, as told.";
    }

    /** What the sender is told. */
    String response() {
        return id.substring(0, 16);
    }
}
