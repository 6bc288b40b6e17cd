package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class WindowSizingTest {

    @Test
    @DisplayName("bytes are within a tenth of what full windows count, small and large, with and without fingerprints")
    void bytes_areWithinATenth() {
        holdsAgainst(WindowSizing.of(139, Duration.ofSeconds(32)));
        holdsAgainst(WindowSizing.of(139, Duration.ofMinutes(5)));
        holdsAgainst(WindowSizing.of(13_900, Duration.ofSeconds(32)));
        holdsAgainst(WindowSizing.of(139, Duration.ofMinutes(5)).record(16, 32).response(500));
    }

    @Test
    void ids_areRateTimesTime() {
        assertThat(WindowSizing.of(13_900, Duration.ofMinutes(5)).ids()).isEqualTo(4_170_000);
        assertThat(WindowSizing.of(0.5, Duration.ofMillis(100)).ids()).isEqualTo(1);
    }

    @Test
    @DisplayName("S13: what is no size is refused")
    void wrongSizes_areRefused() {
        WindowSizing sizing = WindowSizing.of(1, Duration.ofSeconds(1));
        assertThatThrownBy(() -> sizing.response(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> sizing.key(-1, 16)).isInstanceOf(IllegalArgumentException.class);
        for (double wrong : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> WindowSizing.of(wrong, Duration.ofSeconds(1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static void holdsAgainst(WindowSizing sizing) {
        AtomicLong nanos = new AtomicLong();
        CompactWindow<byte[]> window = CompactWindow.lasting(sizing.lasting(), Codec.bytes())
                .ticker(nanos::get)
                .create();
        Fingerprint fingerprint = sizing.fingerprintBytes() == 0 ? null : Fingerprint.sha256("body");
        for (long i = 0; i < sizing.ids() * 3 / 2; i++) {
            Object identity = sizing.identityBytes() == 0 ? new Object() : new UUID(i, i);
            window.put(
                    IdempotencyKey.of(
                            "im", "user-" + (1_000 + i % 9_000), new UUID(i * 0x9E3779B97F4A7C15L, ~i).toString()),
                    new Original<>(identity, new byte[sizing.responseBytes()], fingerprint),
                    Long.MAX_VALUE >> 1);
            nanos.addAndGet((long) (1e9 / sizing.perSecond()));
        }
        assertThat((double) window.bytes())
                .as(sizing.toString())
                .isCloseTo((double) sizing.bytes(), withinPercentage(10));
    }
}
