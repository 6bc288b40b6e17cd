package dev.idempotency.examples.runs;

import java.util.HashMap;
import java.util.Map;

/**
 * What is in the database in the end, held against what the senders were told.
 *
 * @param lost keys that were acknowledged and are not there
 * @param twice effects beside another one of the same key, of which neither overrides the other
 * @param overridden effects of holders that overran their leases, beside that of whoever took over
 * @param other keys that were acknowledged with another response than is stored, and counts
 * @param unknown keys that are stored, although nobody was told so
 */
record KillsStored(long lost, long twice, long overridden, long other, long unknown) {

    static KillsStored of(Service service, Map<Long, String> acknowledged) {
        Map<Long, String> stored = new HashMap<>();
        Counts counts = new Counts();
        service.effects((number, response) -> {
            String beside = stored.putIfAbsent(number, response);
            if (beside == null) {
                return;
            }
            if (service.overrides(response, beside)) {
                counts.add("overridden");
                stored.put(number, response);
            } else {
                counts.add(service.overrides(beside, response) ? "overridden" : "twice");
            }
        });
        acknowledged.forEach((number, told) -> {
            String response = stored.get(number);
            if (response == null) {
                counts.add("lost");
            } else if (!response.equals(told)) {
                counts.add("other");
            }
        });
        long unknown = stored.keySet().stream()
                .filter(number -> !acknowledged.containsKey(number))
                .count();
        return new KillsStored(
                counts.get("lost"), counts.get("twice"), counts.get("overridden"), counts.get("other"), unknown);
    }
}
