package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;
import java.util.List;

/** Keys as the contract's senders make them. */
final class Keys {

    private Keys() {}

    /** Neighbours are equal under some collation, padding rule, trimming, number or pattern. */
    static final List<String> LOOK_ALIKE = List.of(
            "Ab",
            "aB",
            "ab",
            "AB", // case
            "\u00e9",
            "e\u0301",
            "e",
            "\u00e8", // composed, decomposed, none, another accent
            "\ud83d\ude001",
            "\ud83d\ude011",
            "1", // emoji beyond the basic plane
            "a",
            "a ",
            "a  ",
            " a",
            "a\t",
            "a\u00a0",
            "a\u200b", // blanks
            "ss",
            "\u00df",
            "i",
            "I",
            "\u0130",
            "\u0131",
            "\uff41",
            "\u00e6",
            "ae", // letters that fold
            "01",
            "1.0",
            "+1",
            "1e0",
            "0x1", // numbers
            "%",
            "_",
            "\\",
            "\\\\",
            "'",
            "''",
            "\"",
            "*",
            "a%",
            "a_", // patterns and quotes
            "null",
            "\uffff",
            "\ud800\udc00"); // the order of UTF-16 is not that of bytes

    /** The ID that Ana's messenger gave to a message. */
    static IdempotencyKey message(String id) {
        return IdempotencyKey.of(StoreFixture.NAMESPACES.get(0), "ana", id);
    }

    /** The ID that a business system gave to what a message is about. */
    static IdempotencyKey business(String id) {
        return IdempotencyKey.of(StoreFixture.NAMESPACES.get(1), "billing", id);
    }
}
