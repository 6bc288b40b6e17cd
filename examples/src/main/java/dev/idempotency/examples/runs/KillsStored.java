package dev.idempotency.examples.runs;

import java.util.BitSet;
import java.util.Map;

/**
 * What is in the database in the end, held against what the senders were told.
 *
 * @param lost keys that were acknowledged and are not there
 * @param twice effects of keys that have one already
 * @param other keys that were acknowledged with another response than is stored
 * @param unknown keys that are stored, although nobody was told so
 */
record KillsStored(long lost, long twice, long other, long unknown) {

    static KillsStored of(Service service, Map<Long, String> acknowledged) {
        BitSet seen = new BitSet();
        long[] counts = new long[3];
        service.effects((number, response) -> {
            String told = acknowledged.get(number);
            if (seen.get((int) number)) {
                counts[0]++;
            } else if (told == null) {
                counts[2]++;
            } else if (!told.equals(response)) {
                counts[1]++;
            }
            seen.set((int) number);
        });
        long lost = acknowledged.keySet().stream()
                .filter(number -> !seen.get(number.intValue()))
                .count();
        return new KillsStored(lost, counts[0], counts[1], counts[2]);
    }
}
