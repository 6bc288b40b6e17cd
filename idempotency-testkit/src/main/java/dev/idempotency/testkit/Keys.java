package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;

/** Keys as the contract's senders make them. */
final class Keys {

    private Keys() {}

    /** The ID that Ana's messenger gave to a message. */
    static IdempotencyKey message(String id) {
        return IdempotencyKey.of(StoreFixture.NAMESPACES.get(0), "ana", id);
    }

    /** The ID that a business system gave to what a message is about. */
    static IdempotencyKey business(String id) {
        return IdempotencyKey.of(StoreFixture.NAMESPACES.get(1), "billing", id);
    }
}
