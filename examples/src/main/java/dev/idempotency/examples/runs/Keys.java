package dev.idempotency.examples.runs;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Request;

/** The keys of a meaning: one in ten is known by two layers of names, and half of its copies are a business's own retries. */
final class Keys {

    static final String MESSAGE = "im";
    static final String BUSINESS = "notice";

    private static final int TWO_LAYERS = 10;

    private Keys() {}

    /**
     * A copy.
     *
     * @param run sets runs apart
     * @param number of the meaning
     * @param copy which one of its copies
     */
    static Request request(String run, long number, int copy) {
        if (number % TWO_LAYERS != 0) {
            return Request.of(message(run, "m" + number));
        }
        String retry = copy % 2 == 0 ? "" : "-" + copy;
        return Request.of(message(run, "m" + number + retry))
                .and(IdempotencyKey.of(BUSINESS, "erp", run + "-b" + number));
    }

    /**
     * What all names of a meaning have in common, its number, so that a cluster keeps them on one server and the meanings spread.
     * A service would take the conversation or the tenant that each of its names carries.
     */
    static String hashTag(IdempotencyKey key) {
        return key.id().split("-", -1)[1].substring(1);
    }

    private static IdempotencyKey message(String run, String id) {
        return IdempotencyKey.of(MESSAGE, "ana", run + "-" + id);
    }
}
