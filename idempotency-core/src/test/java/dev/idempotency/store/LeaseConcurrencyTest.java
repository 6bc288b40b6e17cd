package dev.idempotency.store;

import static dev.idempotency.store.Bench.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("S1: many at once, in one process")
class LeaseConcurrencyTest {

    private static final int THREADS = 64;
    private static final Publication<String> NOBODY = (names, original, remaining) -> {};

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final IdempotencyStore<Lease, String> patient = CaffeineStore.leased(
            Codec.utf8(), LeaseOptions.defaults().lease(Duration.ofHours(1)).waitAtMost(Duration.ofHours(1)));

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void execute_64ThreadsOneKeyAndWaiting_oneRunsAndAllHaveItsResponse() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        for (int round = 0; round < 50; round++) {
            Request request = request("k" + round);
            runs.set(0);
            List<Outcome<String>> outcomes = together(
                    thread -> patient.execute(request, lease -> thread + ":" + runs.incrementAndGet(), NOBODY));

            assertThat(runs).hasValue(1);
            assertThat(outcomes.stream().filter(Executed.class::isInstance)).hasSize(1);
            assertThat(outcomes.stream().filter(Replayed.class::isInstance)).hasSize(THREADS - 1);
            assertThat(outcomes.stream().map(Outcome::response).distinct()).hasSize(1);
        }
    }

    @Test
    void execute_64ThreadsOneKeyNotWaiting_othersAreRefusedWhileOneRuns() throws Exception {
        IdempotencyStore<Lease, String> store = CaffeineStore.leased(Codec.utf8());
        CountDownLatch refused = new CountDownLatch(THREADS - 1);
        List<Outcome<String>> outcomes = together(thread -> {
            Outcome<String> outcome = store.<InterruptedException>execute(
                    request("k"),
                    lease -> {
                        refused.await();
                        return "only one";
                    },
                    NOBODY);
            refused.countDown();
            return outcome;
        });
        assertThat(outcomes.stream().filter(Executed.class::isInstance)).hasSize(1);
        assertThat(outcomes.stream().filter(InProgress.class::isInstance)).hasSize(THREADS - 1);
    }

    @Test
    @DisplayName("S2, S14: those in front fail, and the next goes")
    void execute_someFail_theNextRunsAndOneCommits() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        List<Outcome<String>> outcomes = together(thread -> {
            while (true) {
                try {
                    return patient.execute(
                            request("k"),
                            lease -> {
                                if (runs.incrementAndGet() <= 10) {
                                    throw new IllegalStateException("one of the first ten");
                                }
                                return "eleventh";
                            },
                            NOBODY);
                } catch (IllegalStateException e) {
                    // Sent again, as a sender does.
                }
            }
        });
        assertThat(runs).hasValue(11);
        assertThat(outcomes.stream().filter(Executed.class::isInstance)).hasSize(1);
        assertThat(outcomes)
                .allSatisfy(outcome -> assertThat(outcome.response()).isEqualTo("eleventh"));
    }

    @Test
    @DisplayName("S8: the same two keys in both orders")
    void execute_crossingPairs_oneRunsForEachPair() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        for (int round = 0; round < 50; round++) {
            Request one = request("a" + round, "b" + round);
            Request other = request("b" + round, "a" + round);
            runs.set(0);
            List<Outcome<String>> outcomes = together(thread ->
                    patient.execute(thread % 2 == 0 ? one : other, lease -> "run " + runs.incrementAndGet(), NOBODY));
            assertThat(runs).hasValue(1);
            assertThat(outcomes)
                    .allSatisfy(outcome -> assertThat(outcome.response()).isEqualTo("run 1"));
        }
    }

    @Test
    @DisplayName("S8: pairs that overlap in a ring")
    void execute_overlappingPairs_noKeyIsExecutedTwice() throws Exception {
        int ring = 9;
        for (int round = 0; round < 50; round++) {
            String prefix = round + "-";
            List<Outcome<String>> outcomes = new ArrayList<>();
            List<Request> requests = new ArrayList<>();
            Random random = new Random(round);
            for (int thread = 0; thread < THREADS; thread++) {
                int i = random.nextInt(ring);
                int j = (i + 1 + random.nextInt(ring - 1)) % ring;
                requests.add(request(prefix + i, prefix + j));
            }
            outcomes.addAll(together(thread -> patient.execute(requests.get(thread), lease -> "t" + thread, NOBODY)));

            Set<IdempotencyKey> executed = new HashSet<>();
            for (int thread = 0; thread < THREADS; thread++) {
                Outcome<String> outcome = outcomes.get(thread);
                if (outcome instanceof Executed) {
                    for (IdempotencyKey key : requests.get(thread).keys()) {
                        assertThat(executed.add(key))
                                .as("%s executed once", key)
                                .isTrue();
                    }
                } else if (outcome instanceof Replayed<String> replayed) {
                    int origin = Integer.parseInt(replayed.response().substring(1));
                    assertThat(outcomes.get(origin)).isInstanceOf(Executed.class);
                } else {
                    assertThat(outcome).isInstanceOf(Conflict.class);
                }
            }
        }
    }

    @Test
    @DisplayName("S10: tokens of one key are never given twice")
    void token_manyHoldersInTurn_eachIsGreaterThanTheLast() throws Exception {
        List<Long> tokens = new ArrayList<>();
        together(thread -> {
            for (int i = 0; i < 20; i++) {
                try {
                    patient.execute(
                            request("k"),
                            lease -> {
                                tokens.add(lease.token());
                                throw new IllegalStateException("released");
                            },
                            NOBODY);
                } catch (IllegalStateException e) {
                    // So that the key is free again.
                }
            }
            return "";
        });
        assertThat(tokens).hasSize(THREADS * 20).doesNotHaveDuplicates().isSorted();
    }

    private <T> List<T> together(Task<T> task) throws Exception {
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<Callable<T>> calls = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            calls.add(() -> {
                start.await();
                return task.run(thread);
            });
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : threads.invokeAll(calls)) {
            results.add(future.get());
        }
        return results;
    }

    private interface Task<T> {
        T run(int thread) throws Exception;
    }
}
