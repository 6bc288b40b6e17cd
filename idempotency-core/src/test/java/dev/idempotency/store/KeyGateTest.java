package dev.idempotency.store;

import static dev.idempotency.store.Bench.key;
import static dev.idempotency.store.Bench.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("S14: duplicates wait outside")
class KeyGateTest {

    private static final Duration LONG = Duration.ofHours(1);
    private static final Original<String> FIRST = new Original<>("1", "first", Fingerprint.sha256("one"));

    private final KeyGate<String> gate = new KeyGate<>();

    @AfterEach
    void nobodyIsLeftInside() {
        assertThat(gate.size()).isZero();
    }

    @Test
    void enter_nobodyInside_isInsideWithoutAnAnswer() throws Exception {
        try (KeyGate.Pass<String> pass = gate.enter(request("a", "b"), Duration.ZERO)) {
            assertThat(pass.refusal(LONG)).isNull();
            assertThat(pass.answer()).isNull();
            assertThat(gate.size()).isEqualTo(2);
        }
    }

    @Test
    void enter_otherKeys_areIndependent() throws Exception {
        try (KeyGate.Pass<String> pass = gate.enter(request("0"), Duration.ZERO)) {
            assertThat(pass.refusal(LONG)).isNull();
            assertThat(elsewhere(() -> blockedBy(request("641"), Duration.ZERO)))
                    .isNull();
        }
    }

    @Test
    void enter_oneOfTwoKeysTaken_isBlockedAndLeavesTheOther() throws Exception {
        try (KeyGate.Pass<String> pass = gate.enter(request("b"), Duration.ZERO)) {
            assertThat(pass.refusal(LONG)).isNull();
            assertThat(elsewhere(() -> blockedBy(request("a", "b"), Duration.ofNanos(1))))
                    .isEqualTo(key("b"));
            assertThat(elsewhere(() -> blockedBy(request("a"), Duration.ZERO))).isNull();
        }
    }

    @Test
    void enter_fromInsideOfTheSameThread_isBlockedAtOnce() throws Exception {
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            assertThat(pass.refusal(LONG)).isNull();
            assertThat(blockedBy(request("a"), LONG)).isEqualTo(key("a"));
        }
    }

    @Test
    void answer_settledWhileWaiting_isTheOriginal() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            waiter = waiting(request("a"));
            pass.settle(List.of(key("a")), FIRST, null);
        }
        assertThat(waiter.get()).isEqualTo(new Replayed<>("first", key("a"), Source.STORE));
    }

    @Test
    @DisplayName("S14: each compares its own fingerprint")
    void answer_settledForAnotherFingerprint_isAMismatch() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            waiter = waiting(request("a").fingerprint(Fingerprint.sha256("other")));
            pass.settle(List.of(key("a")), FIRST, null);
        }
        assertThat(waiter.get()).isEqualTo(new Mismatch<>(key("a")));
    }

    @Test
    @DisplayName("S14: if the one in front fails, one of the rest goes next")
    void answer_frontSaidNothing_isNone() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            assertThat(pass.refusal(LONG)).isNull();
            waiter = waiting(request("a"));
        }
        assertThat(waiter.get()).isNull();
    }

    @Test
    void answer_bothKeysSettledWhileWaitingAtTheFirst_isTheOriginal() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a", "b"), LONG)) {
            waiter = waiting(request("b", "a"));
            pass.settle(List.of(key("a"), key("b")), FIRST, null);
        }
        assertThat(waiter.get()).isEqualTo(new Replayed<>("first", key("b"), Source.STORE));
    }

    @Test
    void answer_onlyOneOfTwoKeysSettled_isNone() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            waiter = waiting(request("a", "b"));
            pass.settle(List.of(key("a"), key("b")), FIRST, null);
        }
        assertThat(waiter.get()).isNull();
    }

    @Test
    void answer_nameThatWasNotRecorded_isNone() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a", "b"), LONG)) {
            waiter = waiting(request("a"));
            pass.settle(List.of(key("b")), FIRST, null);
        }
        assertThat(waiter.get()).isNull();
    }

    @Test
    @DisplayName("W3: nobody is answered with what has expired")
    void answer_nothingRemains_isNone() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            waiter = waiting(request("a"));
            pass.settle(List.of(key("a")), FIRST, Duration.ZERO);
        }
        assertThat(waiter.get()).isNull();
    }

    @Test
    void answer_settledBeforeTheCallArrived_isNone() throws Exception {
        FutureTask<@Nullable Outcome<String>> keepsTheTurn;
        KeyGate.Pass<String> next;
        try (KeyGate.Pass<String> pass = gate.enter(request("a"), LONG)) {
            pass.settle(List.of(key("a")), FIRST, null);
            keepsTheTurn = waiting(request("a"));
        }
        assertThat(keepsTheTurn.get()).isNull();
        next = gate.enter(request("a"), LONG);
        assertThat(next.answer()).isNull();
        next.close();
    }

    @Test
    @DisplayName("The gate decides nothing: what looks like two records may be one, and the store is asked")
    void answer_keysSettledAsTwoRecords_isNone() throws Exception {
        FutureTask<@Nullable Outcome<String>> waiter;
        try (KeyGate.Pass<String> a = gate.enter(request("a"), LONG);
                KeyGate.Pass<String> b = gate.enter(request("b"), LONG)) {
            waiter = waiting(request("b", "a"));
            a.settle(List.of(key("a")), FIRST, LONG);
            b.settle(List.of(key("b")), new Original<>("2", "second", null), LONG);
        }
        assertThat(waiter.get()).isNull();
    }

    @Test
    @DisplayName("J-14")
    void enter_interruptedWhileWaiting_leavesEverything() throws Exception {
        try (KeyGate.Pass<String> pass = gate.enter(request("b"), LONG)) {
            assertThat(pass.refusal(LONG)).isNull();
            FutureTask<@Nullable Outcome<String>> waiter = new FutureTask<>(() -> enterAndAnswer(request("a", "b")));
            Thread thread = new Thread(waiter);
            thread.start();
            awaitWaiting(thread);
            thread.interrupt();
            assertThatThrownBy(waiter::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(InterruptedException.class);
            assertThat(gate.size()).isEqualTo(1);
            assertThat(elsewhere(() -> blockedBy(request("a"), Duration.ZERO))).isNull();
        }
    }

    @Test
    @DisplayName("S14, S8: 64 threads, the same two keys in both orders")
    void enter_crossingPairs_oneAtATimeAndAllFinish() throws Exception {
        int count = 64;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger ran = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(count);
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            List<Callable<String>> calls = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Request request = i % 2 == 0 ? request("a", "b") : request("b", "a");
                calls.add(() -> {
                    start.await();
                    try (KeyGate.Pass<String> pass = gate.enter(request, LONG)) {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Outcome<String> answer = pass.answer();
                        if (answer == null) {
                            ran.incrementAndGet();
                            pass.settle(request.keys(), FIRST, null);
                        }
                        inside.decrementAndGet();
                        return answer == null ? "first" : answer.response();
                    }
                });
            }
            for (Future<String> future : threads.invokeAll(calls)) {
                assertThat(future.get()).isEqualTo("first");
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(most).hasValue(1);
        // One that arrives after all others have left finds nobody to tell it; the store does then.
        assertThat(ran.get()).isBetween(1, count);
    }

    private @Nullable Object blockedBy(Request request, Duration atMost) throws InterruptedException {
        try (KeyGate.Pass<String> pass = gate.enter(request, atMost)) {
            return pass.refusal(LONG) instanceof InProgress<String> inProgress ? inProgress.key() : null;
        }
    }

    private @Nullable Outcome<String> enterAndAnswer(Request request) throws InterruptedException {
        try (KeyGate.Pass<String> pass = gate.enter(request, LONG)) {
            return pass.answer();
        }
    }

    /** Starts a call that waits at the gate, and comes back when it does. */
    private FutureTask<@Nullable Outcome<String>> waiting(Request request) {
        FutureTask<@Nullable Outcome<String>> waiter = new FutureTask<>(() -> enterAndAnswer(request));
        Thread thread = new Thread(waiter);
        thread.start();
        awaitWaiting(thread);
        return waiter;
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(thread.isAlive()).as("still at the gate").isTrue();
            Thread.onSpinWait();
        }
    }

    private static @Nullable Object elsewhere(Callable<@Nullable Object> call) throws Exception {
        FutureTask<@Nullable Object> task = new FutureTask<>(call);
        Thread thread = new Thread(task);
        thread.start();
        return task.get();
    }
}
