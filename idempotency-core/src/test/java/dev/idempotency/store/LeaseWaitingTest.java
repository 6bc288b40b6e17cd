package dev.idempotency.store;

import static dev.idempotency.store.Bench.LEASE;
import static dev.idempotency.store.Bench.key;
import static dev.idempotency.store.Bench.request;
import static dev.idempotency.store.LossyBackend.Primitive.CLAIM;
import static dev.idempotency.store.LossyBackend.Primitive.COMPLETE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Bench.Holder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Waiting for the holder of a key. */
class LeaseWaitingTest {

    private static final Duration FIVE_SECONDS = Duration.ofSeconds(5);

    private final Bench bench = new Bench();
    private final LeasedStore<String> patient =
            bench.store(LeaseOptions.defaults().waitAtMost(FIVE_SECONDS));

    @Test
    @DisplayName("L-6")
    void execute_holderCompletesDuringAPause_waiterReplays() {
        Holder holder = bench.holder(request("k"));
        bench.time.duringPause(() -> holder.complete("held"));

        assertThat(patient.execute(request("k"), lease -> "waiter", bench.publication))
                .isEqualTo(new Replayed<>("held", key("k"), Source.STORE));
    }

    @Test
    @DisplayName("S14: if the one in front fails, one of the rest goes next")
    void execute_holderReleasesDuringAPause_waiterExecutes() {
        Holder holder = bench.holder(request("k"));
        bench.time.duringPause(holder::release);
        AtomicBoolean takenOver = new AtomicBoolean(true);

        Outcome<String> outcome = patient.execute(
                request("k"),
                lease -> {
                    takenOver.set(lease.takenOver());
                    return "waiter";
                },
                bench.publication);
        assertThat(outcome).isEqualTo(new Executed<>("waiter"));
        assertThat(takenOver).isFalse();
    }

    @Test
    @DisplayName("S14: each compares its own fingerprint")
    void execute_recordOfAnotherFingerprintAppearsDuringAPause_isAMismatch() {
        Holder holder = bench.holder(request("k"));
        bench.time.duringPause(() -> {
            if (holder.release()) {
                bench.holder(request("k").fingerprint(Fingerprint.sha256("one")));
            }
        });
        assertThat(patient.execute(
                        request("k").fingerprint(Fingerprint.sha256("other")), lease -> "waiter", bench.publication))
                .isEqualTo(new Mismatch<>(key("k")));
    }

    @Test
    @DisplayName("L-14")
    void execute_holderOutlastsTheWaiter_isRefusedAfterItsTimeAndChangesNothing() {
        Holder holder = bench.holder(request("k"));
        long before = bench.time.now();

        Outcome<String> outcome = patient.execute(request("k"), lease -> "waiter", bench.publication);

        assertThat(outcome).isEqualTo(new InProgress<>(key("k"), LEASE.minus(FIVE_SECONDS)));
        assertThat(bench.time.now() - before).isEqualTo(FIVE_SECONDS.toNanos());
        assertThat(holder.complete("held")).isTrue();
        assertThat(bench.answer(request("k"), "later").response()).isEqualTo("held");
    }

    @Test
    void execute_noTimeToWait_isRefusedWithoutAPause() {
        bench.holder(request("k"));
        AtomicInteger pauses = new AtomicInteger();
        bench.time.duringPause(pauses::incrementAndGet);
        assertThat(bench.answer(request("k"), "second")).isEqualTo(new InProgress<>(key("k"), LEASE));
        assertThat(pauses).hasValue(0);
    }

    @Test
    @DisplayName("L-8: a waiter takes over as soon as the lease ends")
    void execute_leaseEndsWhileWaiting_waiterTakesOverAtOnce() {
        bench.holder(request("k"));
        LeasedStore<String> store = bench.store(LeaseOptions.defaults().waitAtMost(LEASE.plus(LEASE)));
        long before = bench.time.now();

        store.execute(
                request("k"),
                lease -> {
                    assertThat(bench.time.now() - before)
                            .isBetween(LEASE.toNanos(), LEASE.plusMillis(1).toNanos());
                    return "waiter";
                },
                bench.publication);
        assertThat(bench.published).hasSize(1);
    }

    @Test
    void growing_pauses_areJitteredAndGrowToAboutHalfASecond() {
        List<Long> atFirst = new ArrayList<>();
        List<Long> atLast = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            atFirst.add(Waiting.growing(0));
            atLast.add(Waiting.growing(Integer.MAX_VALUE));
        }
        assertThat(atFirst).allSatisfy(pause -> assertThat(pause).isBetween(1_000_000L, 2_000_000L));
        assertThat(atLast).allSatisfy(pause -> assertThat(pause).isBetween(256_000_000L, 512_000_000L));
        assertThat(atLast.stream().distinct().count()).isGreaterThan(900);
    }

    @Test
    @DisplayName("J-14")
    void execute_interruptedWhileWaiting_stopsWithTheFlagSetAndTouchesNothing() throws InterruptedException {
        Holder holder = bench.holder(request("k"));
        CountDownLatch pausing = new CountDownLatch(1);
        Waiting forever = new Waiting() {
            @Override
            public long now() {
                return bench.time.now();
            }

            @Override
            public void pause(long nanos) throws InterruptedException {
                pausing.countDown();
                new CountDownLatch(1).await();
            }
        };
        LossyBackend counting = new LossyBackend(bench.leases);
        LeasedStore<String> store = new LeasedStore<>(
                counting, Codec.utf8(), LeaseOptions.defaults().waitAtMost(FIVE_SECONDS), forever);
        AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
        AtomicBoolean flag = new AtomicBoolean();
        Thread waiter = new Thread(() -> {
            thrown.set(catchThrowable(() -> store.execute(request("k"), lease -> "waiter", bench.publication)));
            flag.set(Thread.currentThread().isInterrupted());
        });

        waiter.start();
        pausing.await();
        waiter.interrupt();
        waiter.join();

        assertThat(thrown.get()).isInstanceOf(RetryableException.class).hasCauseInstanceOf(InterruptedException.class);
        assertThat(flag).isTrue();
        assertThat(counting.asked(CLAIM)).isEqualTo(1);
        assertThat(holder.complete("held")).isTrue();
        assertThat(bench.answer(request("k"), "later").response()).isEqualTo("held");
    }

    @Test
    @DisplayName("J-14: what follows an action is not cut short")
    void execute_interruptedInTheAction_isCompletedWithTheFlagDownAndItStays() {
        AtomicBoolean flagDuringCompletion = new AtomicBoolean(true);
        LossyBackend looking = new LossyBackend(bench.leases)
                .on(
                        COMPLETE,
                        () -> flagDuringCompletion.set(Thread.currentThread().isInterrupted()));
        Outcome<String> outcome = bench.store(looking, LeaseOptions.defaults())
                .execute(
                        request("k"),
                        lease -> {
                            Thread.currentThread().interrupt();
                            return "done";
                        },
                        bench.publication);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(flagDuringCompletion).isFalse();
        assertThat(outcome).isEqualTo(new Executed<>("done"));
        assertThat(bench.answer(request("k"), "later").response()).isEqualTo("done");
    }
}
