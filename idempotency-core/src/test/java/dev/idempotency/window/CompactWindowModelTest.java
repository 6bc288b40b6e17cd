package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random work on a window and on a plain map, with a clock that moves. Without bounds the window answers as the map does,
 * but for the last of an entry's time; with bounds it may have forgotten, and never answers anything else.
 */
class CompactWindowModelTest {

    private static final Duration LASTING = Duration.ofSeconds(1);

    private record Kept(Original<@Nullable String> original, long deadline) {}

    @ParameterizedTest(name = "mask {0}, {1} keys, at most {2} entries, {3} bytes")
    @DisplayName("a window answers as a map does")
    @CsvSource({
        "-1, 10, 0, 0",
        "-1, 3000, 0, 0",
        "0, 60, 0, 0",
        "0xFFFFFFFF, 8000, 0, 0",
        "0xF0000000F, 500, 0, 0",
        "-1, 3000, 700, 0",
        "-1, 3000, 3, 0",
        "-1, 3000, 0, 40000"
    })
    void window_answersAsAMapDoes(String mask, int keys, long entries, long bytes) {
        for (int seed = 0; seed < 6; seed++) {
            run(seed, Long.decode(mask), keys, entries, bytes);
        }
    }

    private void run(int seed, long mask, int keys, long entries, long bytes) {
        SplittableRandom random = new SplittableRandom(seed);
        AtomicLong now =
                new AtomicLong(seed % 2 == 0 ? Long.MAX_VALUE - random.nextLong(3_000_000_000L) : random.nextLong());
        CompactWindow.Spec spec =
                CompactWindow.lasting(LASTING, Codec.utf8()).ticker(now::get).hashMask(mask);
        spec = entries == 0 ? spec : spec.atMostEntries(entries);
        spec = bytes == 0 ? spec : spec.atMostBytes(bytes);
        boolean bounded = entries != 0 || bytes != 0;
        CompactWindow<@Nullable String> window = spec.create();
        Map<Integer, Kept> model = new HashMap<>();
        for (int step = 0; step < 30_000; step++) {
            // Busy, quiet and idle times take turns.
            int phase = step / 3_000 % 4;
            now.addAndGet(random.nextLong(phase == 3 ? 20_000_000 : phase == 2 ? 1_000_000 : 100_000));
            int id = random.nextInt(keys);
            int what = random.nextInt(10_000);
            String at = "seed " + seed + ", step " + step;
            if (what < 4_500) {
                Original<@Nullable String> original = original(random);
                long deadline = now.get() + (what < 500 ? random.nextLong(1_200_000_000) : 1_000_000_000_000L);
                window.put(key(id), original, deadline);
                long until = Math.min(deadline - now.get(), LASTING.toNanos()) + now.get();
                if (until - now.get() > 0) {
                    model.put(id, new Kept(original, until));
                }
            } else if (what < 5_000) {
                window.remove(key(id));
                model.remove(id);
            } else if (what == 9_999) {
                window.clear();
                model.clear();
            } else {
                check(at, window.get(key(id)), model.get(id), now.get(), bounded);
            }
            if (step % 1_000 == 0) {
                model.values().removeIf(kept -> kept.deadline - now.get() <= 0);
                assertThat(window.stats().entries())
                        .as(at)
                        .isLessThanOrEqualTo(bounded && entries != 0 ? entries : keys);
                for (int i = 0; i < keys; i++) {
                    check(at, window.get(key(i)), model.get(i), now.get(), bounded);
                }
            }
        }
        now.addAndGet(LASTING.toNanos());
        window.stats();
        window.stats();
        assertThat(window.stats().entries()).isZero();
    }

    private static void check(
            String at, @Nullable Original<@Nullable String> found, @Nullable Kept kept, long now, boolean bounded) {
        if (found != null) {
            assertThat(kept).as(at).isNotNull();
            assertThat(java.util.Objects.requireNonNull(kept).deadline - now)
                    .as(at)
                    .isPositive();
            assertThat(found).as(at).isEqualTo(kept.original);
        } else if (!bounded && kept != null) {
            assertThat(kept.deadline - now).as(at).isLessThanOrEqualTo(LASTING.toNanos() >> 17);
        }
    }

    private static IdempotencyKey key(int id) {
        return switch (id % 4) {
            case 0 -> IdempotencyKey.of("im", "user-" + id, new UUID(id, -id).toString());
            case 1 -> IdempotencyKey.of("notice", "ü-" + id, "id-" + id);
            case 2 -> IdempotencyKey.of("im", "s", "x".repeat(id % 250) + id % 10_000);
            default -> IdempotencyKey.of("ns-" + id % 40, "s", "id-" + id);
        };
    }

    private static Original<@Nullable String> original(SplittableRandom random) {
        int kind = random.nextInt(40);
        String response = kind == 0
                ? null
                : kind == 1 ? "y".repeat(random.nextInt(100_000)) : "r".repeat(random.nextInt(40)) + random.nextInt();
        Fingerprint fingerprint = random.nextInt(4) == 0 ? Fingerprint.sha256("f" + random.nextInt()) : null;
        Object identity = switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt();
            case 2 -> "row " + random.nextLong();
            default -> new UUID(random.nextLong(), random.nextLong());
        };
        return WindowRules.original(identity, response, fingerprint);
    }
}
