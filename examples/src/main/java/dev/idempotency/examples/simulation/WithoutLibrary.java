package dev.idempotency.examples.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The obvious answers, to show what they lose. None of this is in the library. */
final class WithoutLibrary {

    /** "Within a few seconds". */
    private static final Duration FEW_SECONDS = Duration.ofSeconds(5);

    private WithoutLibrary() {}

    /** Every copy becomes a row. */
    static Receiver storeAll(Inbox inbox) {
        return copy -> store(inbox, copy);
    }

    /** The same text from the same sender within a few seconds is taken for a repeat. So is "ok", said twice on purpose. */
    static Receiver senderAndText(Inbox inbox) {
        record SenderAndText(int sender, String text) {}
        Map<SenderAndText, Long> storedAt = new LinkedHashMap<>();
        return copy -> {
            long since = copy.at() - FEW_SECONDS.toNanos();
            for (Iterator<Long> oldest = storedAt.values().iterator(); oldest.hasNext() && oldest.next() <= since; ) {
                oldest.remove();
            }
            SenderAndText seen = new SenderAndText(copy.message().sender, copy.message().text);
            return storedAt.putIfAbsent(seen, copy.at()) == null ? store(inbox, copy) : Verdict.CAUGHT_IN_WINDOW;
        };
    }

    /** A number that is not above the highest of its device is taken for a repeat. So is a message that was overtaken. */
    static Receiver highestNumber(Inbox inbox) {
        Map<Integer, Integer> highest = new HashMap<>();
        return copy -> {
            int number = copy.message().number;
            if (number <= highest.getOrDefault(copy.message().sender, 0)) {
                return Verdict.CAUGHT_IN_WINDOW;
            }
            highest.put(copy.message().sender, number);
            return store(inbox, copy);
        };
    }

    private static Verdict store(Inbox inbox, Copy copy) {
        inbox.jdbi().useTransaction(handle -> Inbox.insert(handle, copy.message()));
        return Verdict.STORED;
    }
}
