package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TieredWindowTest {

    private static final IdempotencyKey KEY = IdempotencyKey.of("im", "ana", "m1");
    private static final IdempotencyKey OTHER = IdempotencyKey.of("notice", "erp", "b1");
    private static final Original<String> ORIGINAL = new Original<>(7L, "ok", null);
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final AtomicLong nanos = new AtomicLong(-5);
    private final Shared far = new Shared();
    private final Window<String> tiered = server();

    /** One of several processes in front of the same shared window. */
    private Window<String> server() {
        return TieredWindow.of(
                        CaffeineWindow.lasting(Duration.ofMinutes(5))
                                .ticker(nanos::get)
                                .executor(Runnable::run),
                        new SharedWindow.Spec() {
                            @Override
                            public Duration lasting() {
                                return Duration.ofMinutes(10);
                            }

                            @Override
                            @SuppressWarnings("unchecked") // Tests know but one kind of response.
                            public <R extends @Nullable Object> SharedWindow<R> create() {
                                return (SharedWindow<R>) far;
                            }
                        })
                .create();
    }

    @Test
    void put_goesToBoth_withTheTimeThatRemains() {
        tiered.putAll(List.of(KEY, OTHER), ORIGINAL, tiered.now() + 3 * MINUTE);

        assertThat(tiered.get(KEY)).isEqualTo(ORIGINAL);
        assertThat(far.looks).isZero();
        assertThat(far.remaining(KEY)).isEqualTo(Duration.ofMinutes(3));
        assertThat(far.remaining(OTHER)).isEqualTo(Duration.ofMinutes(3));
    }

    @Test
    @DisplayName("A hit in the second fills the first, which then answers alone")
    void hitInSecond_fillsFirst() {
        server().put(KEY, ORIGINAL, tiered.now() + 3 * MINUTE);

        assertThat(tiered.get(KEY)).isEqualTo(ORIGINAL);
        assertThat(tiered.get(KEY)).isEqualTo(ORIGINAL);

        assertThat(far.looks).isEqualTo(1);
        assertThat(tiered.stats().hits()).isEqualTo(2);
    }

    @Test
    @DisplayName("Many keys: the second is asked once, for what the first has not; its hits fill the first")
    void getAll_asksTheSecondOnce() {
        IdempotencyKey unknown = IdempotencyKey.of("im", "ana", "unknown");
        tiered.put(KEY, ORIGINAL, tiered.now() + 3 * MINUTE);
        server().put(OTHER, ORIGINAL, tiered.now() + 3 * MINUTE);

        for (int i = 0; i < 2; i++) {
            assertThat(tiered.getAll(List.of(unknown, OTHER, KEY))).containsExactly(null, ORIGINAL, ORIGINAL);
        }
        assertThat(far.asked).containsExactly(List.of(unknown, OTHER), List.of(unknown));
        assertThat(tiered.getAll(List.of(OTHER, KEY))).containsExactly(ORIGINAL, ORIGINAL);
        assertThat(far.asked).hasSize(2);
    }

    @Test
    @DisplayName("W3, W4: what came from the second is not served for longer than it would have been there")
    void filled_isNotServedPastItsTime() {
        server().put(KEY, ORIGINAL, tiered.now() + 3 * MINUTE);
        nanos.addAndGet(2 * MINUTE);
        tiered.get(KEY);

        nanos.addAndGet(MINUTE - 1);
        assertThat(tiered.get(KEY)).isEqualTo(ORIGINAL);
        nanos.addAndGet(1);
        assertThat(tiered.get(KEY)).isNull();
    }

    @Test
    @DisplayName("W2: a second that fails does not keep the first from what is put, nor from answering")
    void secondFails_firstWorks() {
        far.down = true;

        assertThatThrownBy(() -> tiered.put(KEY, ORIGINAL, tiered.now() + MINUTE))
                .isInstanceOf(IllegalStateException.class);

        assertThat(tiered.get(KEY)).isEqualTo(ORIGINAL);
        assertThatThrownBy(() -> tiered.get(OTHER)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("W2: a second that fails during a look for many keys leaves the first's hits, and is told of once")
    void secondFailsForMany_firstHits() {
        far.down = true;
        assertThatThrownBy(() -> tiered.put(KEY, ORIGINAL, tiered.now() + MINUTE))
                .hasMessage("down");

        assertThat(tiered.getAll(List.of(OTHER, KEY))).containsExactly(null, ORIGINAL);
        assertThatThrownBy(() -> tiered.getAll(List.of(OTHER)))
                .as("there is nothing to lose")
                .hasMessage("down");

        far.down = false;
        assertThatThrownBy(() -> tiered.put(OTHER, ORIGINAL, tiered.now() + MINUTE))
                .as("the next one to publish is told")
                .hasMessage("down");
        assertThat(tiered.getAll(List.of(OTHER, KEY))).containsExactly(ORIGINAL, ORIGINAL);
        assertThat(far.entries).as("it was put all the same").containsOnlyKeys(OTHER);
        tiered.put(KEY, ORIGINAL, tiered.now() + MINUTE);
    }

    @Test
    @DisplayName("Removing reaches both; if the second fails, the first is rid of it, and the caller hears")
    void remove_reachesBoth() {
        tiered.putAll(List.of(KEY, OTHER), ORIGINAL, tiered.now() + MINUTE);

        tiered.remove(KEY);
        assertThat(tiered.get(KEY)).isNull();
        far.down = true;
        assertThatThrownBy(() -> tiered.remove(OTHER)).isInstanceOf(IllegalStateException.class);
        far.down = false;
        far.entries.clear();

        assertThat(tiered.get(OTHER)).isNull();
    }

    @Test
    @DisplayName("W2: what a look has found before everything is cleared does not come back into the first")
    void clearedWhileLooking_isNotFilled() {
        tiered.put(KEY, ORIGINAL, tiered.now() + MINUTE);
        Window<String> another = server();
        far.whileLooking = another::clear;

        assertThat(another.get(KEY)).isEqualTo(ORIGINAL);

        far.whileLooking = () -> {};
        assertThat(another.get(KEY)).isNull();
    }

    @Test
    void lasting_isTheLongerOne() {
        assertThat(TieredWindow.of(CaffeineWindow.lasting(Duration.ofMinutes(5)), new SharedWindow.Spec() {
                            @Override
                            public Duration lasting() {
                                return Duration.ofMinutes(2);
                            }

                            @Override
                            public <R extends @Nullable Object> SharedWindow<R> create() {
                                throw new IllegalStateException("nobody asked for it");
                            }
                        })
                        .lasting())
                .isEqualTo(Duration.ofMinutes(5));
    }

    /** A window elsewhere, with a clock of its own. */
    private final class Shared implements SharedWindow<String> {

        private static final long AHEAD = 1_000_000;

        final Map<IdempotencyKey, Long> entries = new HashMap<>();
        final List<List<IdempotencyKey>> asked = new ArrayList<>();
        int looks;
        boolean down;
        Runnable whileLooking = () -> {};

        Duration remaining(IdempotencyKey key) {
            return Duration.ofNanos(entries.getOrDefault(key, 0L) - now());
        }

        @Override
        public long now() {
            return nanos.get() + AHEAD;
        }

        @Override
        public @Nullable Held<String> held(IdempotencyKey key) {
            reach();
            looks++;
            Held<String> held =
                    remaining(key).compareTo(Duration.ZERO) > 0 ? new Held<>(ORIGINAL, remaining(key)) : null;
            whileLooking.run();
            return held;
        }

        @Override
        public List<@Nullable Held<String>> heldAll(List<IdempotencyKey> keys) {
            asked.add(keys);
            return SharedWindow.super.heldAll(keys);
        }

        @Override
        public void put(IdempotencyKey key, Original<String> original, long deadline) {
            reach();
            entries.put(key, deadline);
        }

        @Override
        public void remove(IdempotencyKey key) {
            reach();
            entries.remove(key);
        }

        @Override
        public void clear() {
            reach();
            entries.clear();
        }

        @Override
        public Stats stats() {
            return new Stats(looks, 0, 0, entries.size());
        }

        private void reach() {
            if (down) {
                throw new IllegalStateException("down");
            }
        }
    }
}
