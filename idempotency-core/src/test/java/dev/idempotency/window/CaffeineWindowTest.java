package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CaffeineWindowTest {

    private static final long FOR_EVER = Long.MAX_VALUE >> 1;

    private final AtomicLong nanos = new AtomicLong(-3);
    private final CaffeineWindow.Spec spec =
            CaffeineWindow.lasting(Duration.ofSeconds(32)).ticker(nanos::get).executor(Runnable::run);

    private static IdempotencyKey key(int id) {
        return IdempotencyKey.of("n", "s", "id-" + id);
    }

    private static Original<String> original(String response) {
        return new Original<>(response, response, null);
    }

    private static @Nullable String response(Window<String> window, int id) {
        Original<String> found = window.get(key(id));
        return found == null ? null : found.response();
    }

    @Test
    @DisplayName("W5: an entry lasts as long as the window, and not a nanosecond longer")
    void entry_lastsAsLongAsTheWindow() {
        Window<String> window = spec.create();
        window.put(key(1), original("ok"), nanos.get() + FOR_EVER);

        // Caffeine keeps the time of a write with its lowest bit cleared, so it may be one nanosecond early.
        nanos.addAndGet(Duration.ofSeconds(32).toNanos() - 2);
        assertThat(response(window, 1)).isEqualTo("ok");
        nanos.addAndGet(2);
        assertThat(response(window, 1)).isNull();
    }

    @Test
    @DisplayName("W3: the record's own deadline goes before the window's")
    void entry_isNotServedFromItsDeadlineOn() {
        Window<String> window = spec.create();
        window.put(key(1), original("ok"), nanos.get() + 5);
        window.put(key(2), original("late"), nanos.get());

        assertThat(response(window, 2)).isNull();
        nanos.addAndGet(4);
        assertThat(response(window, 1)).isEqualTo("ok");
        nanos.addAndGet(1);
        assertThat(response(window, 1)).isNull();
    }

    @Test
    @DisplayName("W4: looks do not prolong, a new put replaces and prolongs")
    void looks_doNotProlong() {
        Window<String> window = spec.create();
        window.put(key(1), original("old"), nanos.get() + FOR_EVER);
        nanos.addAndGet(Duration.ofSeconds(20).toNanos());
        assertThat(response(window, 1)).isEqualTo("old");
        window.put(key(1), original("new"), nanos.get() + FOR_EVER);
        nanos.addAndGet(Duration.ofSeconds(20).toNanos());
        assertThat(response(window, 1)).isEqualTo("new");
        nanos.addAndGet(Duration.ofSeconds(12).toNanos());
        assertThat(response(window, 1)).isNull();
    }

    @Test
    @DisplayName("W5: bounded by entries, whatever is put")
    void entries_areBounded() {
        CaffeineWindow<String> window = spec.atMostEntries(20).create();
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
        CaffeineWindow<String> window = spec.atMostBytes(100_000, response -> {
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
    void removeAndClear_forget() {
        Window<String> window = spec.create();
        for (int i = 1; i <= 3; i++) {
            window.put(key(i), original("ok"), nanos.get() + FOR_EVER);
        }
        window.remove(key(1));
        assertThat(response(window, 1)).isNull();
        assertThat(response(window, 2)).isEqualTo("ok");
        window.clear();
        assertThat(response(window, 2)).isNull();
        assertThat(window.stats().entries()).isZero();
    }

    @Test
    void stats_countHitsAndMisses() {
        Window<String> window = spec.create();
        window.put(key(1), original("ok"), nanos.get() + FOR_EVER);
        window.get(key(1));
        window.get(key(1));
        window.get(key(2));

        assertThat(window.stats()).isEqualTo(new Window.Stats(2, 1, 0, 1));
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
        Window<String> one = spec.create();
        Window<String> two = spec.create();
        one.put(key(1), original("ok"), nanos.get() + FOR_EVER);

        assertThat(response(two, 1)).isNull();
    }
}
