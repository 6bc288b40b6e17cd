package dev.idempotency.store;

import static dev.idempotency.store.Bench.LEASE;
import static dev.idempotency.store.Bench.key;
import static dev.idempotency.store.Bench.request;
import static dev.idempotency.store.LossyBackend.Primitive.CLAIM;
import static dev.idempotency.store.LossyBackend.Primitive.COMPLETE;
import static dev.idempotency.store.LossyBackend.Primitive.EXTEND;
import static dev.idempotency.store.LossyBackend.Primitive.RELEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.LeaseLostException;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("S4: a line that loses questions and replies")
class LostRepliesTest {

    private static final int ALL = 4;

    private final Bench bench = new Bench();
    private final LossyBackend line = new LossyBackend(bench.leases);
    private final LeasedStore<String> store = bench.store(line, LeaseOptions.defaults());
    private final AtomicInteger runs = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void claim_repliesLost_runsOnceAndIsNoTakeover(int lost) {
        line.loseReplies(CLAIM, lost);
        Outcome<String> outcome =
                store.execute(request("a", "b"), lease -> "taken over: " + lease.takenOver(), bench.publication);
        assertThat(outcome).isEqualTo(new Executed<>("taken over: false"));
        assertThat(line.asked(CLAIM)).isEqualTo(lost + 1);
    }

    @Test
    void claim_questionLost_runs() {
        line.loseQuestions(CLAIM, 1);
        assertThat(run()).isEqualTo(new Executed<>("run 1"));
    }

    @Test
    void claim_replyOfATakeoverLost_isStillTold() {
        bench.holder(request("a"));
        bench.time.advance(LEASE);
        line.loseReplies(CLAIM, 1);
        assertThat(store.execute(request("a"), lease -> "taken over: " + lease.takenOver(), bench.publication)
                        .response())
                .isEqualTo("taken over: true");
    }

    @Test
    void claim_replyOfAReplayLost_replays() {
        bench.answer(request("a"), "first");
        line.loseReplies(CLAIM, 1);
        assertThat(run()).isInstanceOf(Replayed.class);
        assertThat(runs).hasValue(0);
    }

    @Test
    void claim_replyLost_remainingIsCountedFromBeforeTheFirstQuestion() {
        line.loseReplies(CLAIM, 2);
        long before = bench.time.now();
        store.execute(
                request("a"),
                lease -> {
                    assertThat(bench.time.now()).isGreaterThan(before);
                    assertThat(lease.remaining())
                            .isEqualTo(LEASE.minusNanos(bench.time.now() - before))
                            .isLessThanOrEqualTo(storesRemaining("a"));
                    return "done";
                },
                bench.publication);
        assertThat(bench.published).hasSize(1);
    }

    @Test
    void claim_noReplyAtAll_nothingRunsAndTheKeyMayBeTaken() {
        line.loseReplies(CLAIM, ALL);
        assertThatThrownBy(this::run)
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("nothing was run")
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThat(runs).hasValue(0);
        assertThat(line.asked(CLAIM)).isEqualTo(ALL);

        assertThat(run()).isInstanceOf(InProgress.class);
        bench.time.advance(LEASE);
        assertThat(run()).isEqualTo(new Executed<>("run 1"));
    }

    @Test
    void claim_definiteFailure_isNotRepeated() {
        StoreException missing = new StoreException("no such table", null);
        line.fail(CLAIM, 1, false, missing);
        assertThatThrownBy(this::run).isSameAs(missing);
        RetryableException full = new RetryableException("full", null);
        line.fail(CLAIM, 1, false, full);
        assertThatThrownBy(this::run).isSameAs(full);
        assertThat(line.asked(CLAIM)).isEqualTo(2);
        assertThat(runs).hasValue(0);
    }

    @Test
    void claim_replyLostThenRetryable_isAskedAgain() {
        line.loseReplies(CLAIM, 1).fail(CLAIM, 2, false, new RetryableException("busy", null));
        assertThat(run()).isEqualTo(new Executed<>("run 1"));
    }

    @Test
    void claim_replyLostThenOnlyRetryable_isNotToldThatNothingIsStored() {
        RetryableException busy = new RetryableException("busy", null);
        line.loseReplies(CLAIM, 1).fail(CLAIM, ALL - 1, false, busy);
        assertThatThrownBy(this::run)
                .isInstanceOf(OutcomeUnknownException.class)
                .satisfies(e -> assertThat(e.getCause()).hasSuppressedException(busy));
        assertThat(runs).hasValue(0);
        assertThat(run()).isInstanceOf(InProgress.class);
    }

    @Test
    void claim_replyLostThenRefusedForGood_isNotToldThatNothingIsStored() {
        line.loseReplies(CLAIM, 1).fail(CLAIM, 1, false, new StoreException("no such table", null));
        assertThatThrownBy(this::run).isInstanceOf(OutcomeUnknownException.class);
        assertThat(line.asked(CLAIM)).isEqualTo(2);
        assertThat(run()).isInstanceOf(InProgress.class);
    }

    @Test
    @DisplayName("S4, J-14: interrupted between two tries to claim")
    void claim_replyLostThenInterrupted_stopsAndSaysThatTheKeyMayBeTaken() {
        line.loseReplies(CLAIM, 2);
        bench.time.duringPause(() -> Thread.currentThread().interrupt());
        assertThatThrownBy(this::run).isInstanceOf(OutcomeUnknownException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(runs).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void complete_someLost_executesAndRepeatsReplay(boolean reply) {
        lose(reply, ALL - 1);
        assertThat(run()).isEqualTo(new Executed<>("run 1"));
        assertThat(bench.published).hasSize(1);
        assertThat(run()).isInstanceOf(Replayed.class);
        assertThat(run().response()).isEqualTo("run 1");
    }

    @Test
    void complete_allRepliesLost_isUnknownPublishesNothingAndARetryReplays() {
        lose(true, ALL);
        assertThatThrownBy(this::run).isInstanceOf(OutcomeUnknownException.class);
        assertThat(bench.published).isEmpty();
        assertThat(run()).isInstanceOf(Replayed.class);
        assertThat(runs).hasValue(1);
    }

    @Test
    void complete_allQuestionsLost_isUnknownAndIsTakenOverLater() {
        lose(false, ALL);
        assertThatThrownBy(this::run).isInstanceOf(OutcomeUnknownException.class);
        assertThat(bench.published).isEmpty();
        assertThat(run()).isInstanceOf(InProgress.class);
        bench.time.advance(LEASE);
        assertThat(run()).isEqualTo(new Executed<>("run 2"));
    }

    @Test
    @DisplayName("S4, J-14: interrupted between two tries to complete")
    void complete_interruptedWhileARepeatIsDue_isRepeatedAndTheFlagStays() {
        lose(false, 2);
        bench.time.duringPause(() -> Thread.currentThread().interrupt());
        assertThat(run()).isEqualTo(new Executed<>("run 1"));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("S12: a response that the store can't keep")
    void complete_payloadRefused_isCompleteWithoutItAndEveryRepeatIsTold() {
        StoreException tooLarge = new StoreException("too large", null);
        line.fail(COMPLETE, 1, false, tooLarge);
        assertThatThrownBy(this::run)
                .isInstanceOf(ResponseUnavailableException.class)
                .hasCause(tooLarge);
        assertThatThrownBy(this::run).isInstanceOf(ResponseUnavailableException.class);
        assertThat(runs).hasValue(1);
        assertThat(bench.published).isEmpty();
    }

    @Test
    void complete_everyPayloadRefused_isUnknown() {
        StoreException missing = new StoreException("no such table", null);
        line.fail(COMPLETE, 2, false, missing);
        assertThatThrownBy(this::run)
                .isInstanceOf(OutcomeUnknownException.class)
                .hasCause(missing);
        assertThat(bench.published).isEmpty();
        assertThat(run()).isInstanceOf(InProgress.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void release_repliesLost_isReleasedAndTheActionsExceptionIsUnchanged(int lost) {
        line.loseReplies(RELEASE, lost);
        IllegalStateException failure = new IllegalStateException("action");
        assertThatThrownBy(() -> runFailing(failure)).isSameAs(failure).hasNoSuppressedExceptions();
        assertThat(run()).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S2: a release that fails is a suppressed exception of the action's")
    void release_allQuestionsLost_isSuppressedAndTheKeyStaysUntilTheLeaseEnds() {
        line.loseQuestions(RELEASE, ALL);
        IllegalStateException failure = new IllegalStateException("action");
        assertThatThrownBy(() -> runFailing(failure))
                .isSameAs(failure)
                .satisfies(
                        e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(OutcomeUnknownException.class));
        assertThat(run()).isEqualTo(new InProgress<>(key("a"), storesRemaining("a")));
        bench.time.advance(LEASE);
        assertThat(run()).isInstanceOf(Executed.class);
    }

    @Test
    void extend_replyLost_isThrownAndRemainingIsNotProlonged() {
        IllegalStateException lost = new IllegalStateException("lost");
        line.fail(EXTEND, 1, true, lost);
        store.execute(
                request("a"),
                lease -> {
                    bench.time.advance(Duration.ofSeconds(10));
                    assertThatThrownBy(() -> lease.extend(LEASE)).isSameAs(lost);
                    assertThat(lease.remaining()).isEqualTo(LEASE.minusSeconds(10));
                    lease.extend(LEASE);
                    assertThat(lease.remaining()).isEqualTo(LEASE);
                    return "done";
                },
                bench.publication);
        assertThat(bench.published).hasSize(1);
    }

    @Test
    @DisplayName("S4, L-4: taken over between two tries to complete")
    void complete_takenOverWhileQuestionsAreLost_isToldThatTheLeaseIsLost() {
        lose(false, 1);
        bench.time.duringPause(() -> {
            bench.time.advance(LEASE);
            assertThat(bench.holder(request("a")).granted().takenOver()).isTrue();
        });
        assertThatThrownBy(this::run).isInstanceOf(LeaseLostException.class);
        assertThat(bench.published).isEmpty();
    }

    private void lose(boolean reply, int times) {
        if (reply) {
            line.loseReplies(COMPLETE, times);
        } else {
            line.loseQuestions(COMPLETE, times);
        }
    }

    private Outcome<String> run() {
        return store.execute(request("a"), lease -> "run " + runs.incrementAndGet(), bench.publication);
    }

    private void runFailing(RuntimeException failure) {
        store.execute(
                request("a"),
                lease -> {
                    throw failure;
                },
                bench.publication);
    }

    /** What the records say remains of the lease. */
    private Duration storesRemaining(String id) {
        Outcome<String> refused = bench.answer(request(id), "other");
        assertThat(refused).isInstanceOf(InProgress.class);
        return ((InProgress<String>) refused).retryAfter();
    }
}
