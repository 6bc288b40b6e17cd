package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RecordIdsTest {

    private static final Comparator<UUID> AS_BYTES =
            (a, b) -> Arrays.compareUnsigned(Parameters.bytes(a), Parameters.bytes(b));

    @Test
    void identities_areVersion7WithTheTimeInFront() {
        long before = Instant.now().toEpochMilli();
        UUID id = RecordIds.next();
        long after = Instant.now().toEpochMilli();

        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(id.getMostSignificantBits() >>> 16).isBetween(before, after);
    }

    @Test
    void thoseMadeTogether_growAsBytes() {
        assertThat(RecordIds.next(500)).hasSize(500).isSortedAccordingTo(AS_BYTES);
    }

    @Test
    void allAreDifferent() {
        List<UUID> ids = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            ids.addAll(RecordIds.next(5));
            ids.add(RecordIds.next());
        }

        assertThat(new HashSet<>(ids)).hasSameSizeAs(ids);
    }
}
