package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Window;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CaffeineWindowTest extends WindowRules {

    private final CaffeineWindow.Spec spec =
            CaffeineWindow.lasting(LASTING).ticker(nanos::get).executor(Runnable::run);

    @Override
    Window<@Nullable String> window() {
        return spec.create();
    }

    /** Caffeine keeps the time of a write with its lowest bit cleared. */
    @Override
    long early() {
        return 1;
    }

    @Test
    @DisplayName("W5: bounded by entries, whatever is put")
    void entries_areBounded() {
        CaffeineWindow<@Nullable String> window = spec.atMostEntries(20).create();
        for (int i = 0; i < 200; i++) {
            window.put(key(i), original("ok"), nanos.get() + FOR_EVER);
        }

        assertThat(window.stats().entries()).isLessThanOrEqualTo(20);
        assertThat(window.stats().evictions()).isGreaterThanOrEqualTo(180);
    }

    @Test
    @DisplayName("W5: bounded by bytes: large responses leave room for fewer entries")
    void bytes_areBounded() {
        AtomicInteger asked = new AtomicInteger();
        CaffeineWindow<@Nullable String> window = spec.atMostBytes(100_000, response -> {
                    asked.incrementAndGet();
                    return ((String) response).length();
                })
                .create();
        for (int i = 0; i < 200; i++) {
            window.put(key(i), original("x".repeat(10_000)), nanos.get() + FOR_EVER);
        }

        assertThat(window.stats().entries()).isLessThan(10);
        assertThat(asked.get()).isGreaterThanOrEqualTo(200);
    }

    @Test
    @DisplayName("S13: what can't be a window is refused when it is described")
    void wrongSpecs_areRefused() {
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatThrownBy(() -> CaffeineWindow.lasting(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> spec.atMostEntries(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> spec.atMostBytes(-1, response -> 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> spec.atMostEntries(1).atMostBytes(1, response -> 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> spec.atMostBytes(1, response -> 1).atMostEntries(1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void spec_makesANewWindowEachTime() {
        Window<@Nullable String> one = spec.create();
        Window<@Nullable String> two = spec.create();
        one.put(key(1), original("ok"), nanos.get() + FOR_EVER);

        assertThat(response(two, 1)).isNull();
    }
}
