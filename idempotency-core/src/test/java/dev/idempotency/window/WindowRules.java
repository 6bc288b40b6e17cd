package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every window in memory does, of whichever kind. */
abstract class WindowRules {

    static final long FOR_EVER = Long.MAX_VALUE >> 1;
    static final Duration LASTING = Duration.ofSeconds(32);

    final AtomicLong nanos = new AtomicLong(-3);

    /** A window of texts that lasts {@link #LASTING} by {@link #nanos}. */
    abstract Window<@Nullable String> window();

    /** How many nanoseconds an entry may be gone before its time. */
    abstract long early();

    static IdempotencyKey key(int id) {
        return IdempotencyKey.of("n", "s", "id-" + id);
    }

    static Original<@Nullable String> original(@Nullable String response) {
        return original("record " + response, response, null);
    }

    @SuppressWarnings("NullAway") // It does not see that a response may be null where its type says so.
    static Original<@Nullable String> original(
            Object identity, @Nullable String response, @Nullable Fingerprint fingerprint) {
        return new Original<>(identity, response, fingerprint);
    }

    static @Nullable String response(Window<@Nullable String> window, int id) {
        Original<@Nullable String> found = window.get(key(id));
        return found == null ? null : found.response();
    }

    @ParameterizedTest
    @DisplayName("W5: an entry lasts as long as the window, and not a nanosecond longer, wherever the clock stands")
    @ValueSource(longs = {-3, 0, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 16_000_000_000L})
    void entry_lastsAsLongAsTheWindow(long start) {
        nanos.set(start);
        Window<@Nullable String> window = window();
        window.put(key(1), original("ok"), nanos.get() + FOR_EVER);

        nanos.addAndGet(LASTING.toNanos() - 1 - early());
        assertThat(response(window, 1)).isEqualTo("ok");
        nanos.addAndGet(1 + early());
        assertThat(response(window, 1)).isNull();
    }

    @Test
    @DisplayName("W3: the record's own deadline goes before the window's")
    void entry_isNotServedFromItsDeadlineOn() {
        Window<@Nullable String> window = window();
        window.put(key(0), original("long"), nanos.get() + FOR_EVER);
        window.put(key(1), original("ok"), nanos.get() + 1_000_000_000);
        window.put(key(2), original("late"), nanos.get());

        assertThat(response(window, 2)).isNull();
        nanos.addAndGet(1_000_000_000 - 1 - early());
        assertThat(response(window, 1)).isEqualTo("ok");
        nanos.addAndGet(1 + early());
        assertThat(response(window, 1)).isNull();
        assertThat(response(window, 0)).isEqualTo("long");
    }

    @Test
    @DisplayName("W4: looks do not prolong, a new put replaces and prolongs")
    void looks_doNotProlong() {
        Window<@Nullable String> window = window();
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
    void removeAndClear_forget() {
        Window<@Nullable String> window = window();
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
        Window<@Nullable String> window = window();
        window.put(key(1), original("ok"), nanos.get() + FOR_EVER);
        window.get(key(1));
        window.get(key(1));
        window.get(key(2));

        assertThat(window.stats()).isEqualTo(new Window.Stats(2, 1, 0, 1));
    }

    @Test
    void stats_countEvictions() {
        Window<@Nullable String> window = window();
        for (int i = 0; i < 100; i++) {
            window.put(key(i), original("ok"), nanos.get() + FOR_EVER);
        }
        nanos.addAndGet(LASTING.toNanos());
        for (int i = 0; i < 100; i++) {
            window.put(key(1_000 + i), original("ok"), nanos.get() + FOR_EVER);
        }

        assertThat(window.stats()).isEqualTo(new Window.Stats(0, 0, 100, 100));
    }

    @Test
    @DisplayName("K-1: null and empty responses, with and without a fingerprint, come back as they were")
    void responsesAndFingerprints_comeBack() {
        Window<@Nullable String> window = window();
        Fingerprint fingerprint = Fingerprint.sha256("body");
        window.put(key(1), original(7L, null, fingerprint), nanos.get() + FOR_EVER);
        window.put(key(2), original(8L, "", null), nanos.get() + FOR_EVER);

        assertThat(window.get(key(1))).isEqualTo(original(7L, null, fingerprint));
        assertThat(window.get(key(2))).isEqualTo(original(8L, "", null));
    }

    @Test
    @DisplayName("W2: the keys of one record hit the same record, whatever its identity is")
    void keysPutAlong_haveOneIdentity() {
        Window<@Nullable String> window = window();
        int next = 0;
        for (Supplier<Object> identity : List.<Supplier<Object>>of(Object::new, () -> List.of(1), () -> 5L)) {
            IdempotencyKey one = key(next++);
            IdempotencyKey other = key(next++);
            window.putAll(List.of(one, other), original(identity.get(), "ok", null), nanos.get() + FOR_EVER);

            assertThat(identity(window, one)).isEqualTo(identity(window, other));
        }
        window.put(key(7), original(new Object(), "ok", null), nanos.get() + FOR_EVER);
        window.put(key(8), original(new Object(), "ok", null), nanos.get() + FOR_EVER);
        window.putAll(List.of(key(10), key(11)), original(new Object(), "ok", null), nanos.get() + FOR_EVER);

        assertThat(identity(window, key(7))).isNotEqualTo(identity(window, key(8)));
        assertThat(identity(window, key(0))).isNotEqualTo(identity(window, key(10)));
        assertThat(identity(window, key(0))).isNotEqualTo(identity(window, key(7)));
    }

    static Object identity(Window<@Nullable String> window, IdempotencyKey key) {
        return Objects.requireNonNull(window.get(key)).identity();
    }
}
