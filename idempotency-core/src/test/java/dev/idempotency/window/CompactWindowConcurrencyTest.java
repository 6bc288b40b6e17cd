package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CompactWindowConcurrencyTest {

    /** Few keys in one shard of one table, so that operations meet. */
    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    @Param(name = "value", gen = IntGen.class, conf = "0:9")
    public static final class Register {

        private final CompactWindow<String> window = CompactWindow.lasting(Duration.ofMinutes(1), Codec.utf8())
                .ticker(() -> 0)
                .hashMask(1)
                .create();

        @Operation
        public void put(int key, int value) {
            window.put(key(key), new Original<>((long) value, "r" + value, null), Long.MAX_VALUE);
        }

        @Operation
        public @Nullable String get(int key) {
            Original<String> found = window.get(key(key));
            return found == null ? null : found.identity() + found.response();
        }

        @Operation
        public void remove(int key) {
            window.remove(key(key));
        }
    }

    @Test
    @DisplayName("putting, looking and removing are linearizable")
    void operations_areLinearizable() {
        new StressOptions()
                .iterations(30)
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(4)
                .check(Register.class);
    }

    @Test
    @DisplayName(
            "many threads, chunks that come and go, tables that grow: every hit is the key's own, whole and in time")
    void storm_showsNobodyAnythingElse() throws Exception {
        AtomicLong nanos = new AtomicLong();
        CompactWindow<String> window = CompactWindow.lasting(Duration.ofMillis(1), Codec.utf8())
                .ticker(nanos::get)
                .hashMask(0xFFFF_FFFFL)
                .atMostBytes(300_000)
                .create();
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try {
            List<Future<Integer>> work = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                SplittableRandom random = new SplittableRandom(i);
                work.add(threads.submit(() -> work(window, nanos, random)));
            }
            int hits = 0;
            for (Future<Integer> done : work) {
                hits += done.get();
            }
            assertThat(hits).isPositive();
            assertThat(window.bytes()).isLessThanOrEqualTo(300_000);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("a key that stays is found at every moment, while others come and go beside it")
    void keyThatStays_isAlwaysFound() throws Exception {
        CompactWindow<String> window = CompactWindow.lasting(Duration.ofMinutes(1), Codec.utf8())
                .ticker(() -> 0)
                .hashMask(0xFFFF_FFFFL)
                .create();
        for (int id = 0; id < 500; id++) {
            window.put(key(id), new Original<>((long) id, "stays", null), Long.MAX_VALUE);
        }
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<Integer>> readers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                readers.add(threads.submit(() -> {
                    int missed = 0;
                    for (int id = 0; !done.get(); id = (id + 1) % 500) {
                        missed += window.get(key(id)) == null ? 1 : 0;
                    }
                    return missed;
                }));
            }
            SplittableRandom random = new SplittableRandom(1);
            for (int i = 0; i < 400_000; i++) {
                int id = 500 + random.nextInt(5_000);
                if (random.nextBoolean()) {
                    window.put(key(id), new Original<>((long) id, "goes", null), Long.MAX_VALUE);
                } else {
                    window.remove(key(id));
                }
            }
            done.set(true);
            for (Future<Integer> reader : readers) {
                assertThat(reader.get()).isZero();
            }
        } finally {
            done.set(true);
            threads.shutdownNow();
        }
    }

    private static int work(CompactWindow<String> window, AtomicLong nanos, SplittableRandom random) {
        int hits = 0;
        for (int i = 0; i < 150_000; i++) {
            int id = random.nextInt(4_000);
            long now = nanos.addAndGet(100);
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    // A response says whose it is, and until when it may be seen.
                    String response = id + ":" + (now + 1_000_000) + ":" + "x".repeat(random.nextInt(60)) + "!";
                    window.put(key(id), new Original<>((long) id, response, null), now + 1_000_000);
                }
                case 3 -> window.remove(key(id));
                default -> {
                    Original<String> found = window.get(key(id));
                    if (found != null) {
                        hits++;
                        assertThat(found.identity()).isEqualTo((long) id);
                        assertThat(found.response()).startsWith(id + ":").endsWith("!");
                        assertThat(Long.parseLong(found.response().split(":", -1)[1]))
                                .isGreaterThan(now);
                    }
                }
            }
        }
        return hits;
    }

    private static IdempotencyKey key(int id) {
        return IdempotencyKey.of("im", "s", "id-" + id);
    }
}
