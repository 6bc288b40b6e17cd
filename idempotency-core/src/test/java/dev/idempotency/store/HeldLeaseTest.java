package dev.idempotency.store;

import static dev.idempotency.store.Bench.LEASE;
import static dev.idempotency.store.Bench.TICK;
import static dev.idempotency.store.Bench.request;
import static dev.idempotency.store.LossyBackend.Primitive.EXTEND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Action;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.StoreException;
import dev.idempotency.store.Bench.Holder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an action sees of its lease, and renewal. */
class HeldLeaseTest {

    private static final Duration THIRD = LEASE.dividedBy(3);

    private final Bench bench = new Bench();
    private final LossyBackend line = new LossyBackend(bench.leases);
    private final ManualScheduler scheduler = new ManualScheduler();

    @AfterEach
    void stop() {
        scheduler.shutdownNow();
    }

    @Test
    void remaining_timePasses_countsDownToZero() {
        run(lease -> {
            assertThat(lease.remaining()).isEqualTo(LEASE);
            bench.time.advance(LEASE.minus(TICK));
            assertThat(lease.remaining()).isEqualTo(TICK);
            bench.time.advance(TICK);
            assertThat(lease.remaining()).isZero();
            bench.time.advance(LEASE);
            assertThat(lease.remaining()).isZero();
            return "done";
        });
    }

    @Test
    void extend_held_lastsFromNowOnAndHoldsOthersOff() {
        run(lease -> {
            bench.time.advance(Duration.ofSeconds(10));
            lease.extend(Duration.ofMinutes(1));
            assertThat(lease.remaining()).isEqualTo(Duration.ofMinutes(1));
            lease.extend(Duration.ofMillis(1));
            assertThat(lease.remaining()).isEqualTo(Duration.ofMinutes(1));
            bench.time.advance(Duration.ofSeconds(59));
            assertThat(bench.answer(request("k"), "other")).isInstanceOf(InProgress.class);
            return "done";
        });
    }

    @Test
    @DisplayName("L-4")
    void extend_takenOver_throwsAndNothingRemains() {
        assertThatThrownBy(() -> run(lease -> {
                    bench.time.advance(LEASE);
                    bench.holder(request("k"));
                    assertThatThrownBy(() -> lease.extend(LEASE)).isInstanceOf(LeaseLostException.class);
                    assertThat(lease.remaining()).isZero();
                    assertThatThrownBy(lease::effectStarts).isInstanceOf(LeaseLostException.class);
                    return "late";
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThat(bench.published).isEmpty();
    }

    static List<Duration> notAnExtension() {
        return LeaseOptionsTest.notALease();
    }

    @ParameterizedTest
    @MethodSource("notAnExtension")
    @DisplayName("S13, L-2")
    void extend_outOfBounds_isRefusedBeforeTheStoreIsAsked(Duration by) {
        run(lease -> {
            assertThatThrownBy(() -> lease.extend(by)).isInstanceOf(IllegalArgumentException.class);
            return "done";
        });
        assertThat(line.asked(EXTEND)).isZero();
    }

    @Test
    void effectStarts_leaseOver_throwsAndTheKeyIsReleased() {
        assertThatThrownBy(() -> run(lease -> {
                    bench.time.advance(LEASE);
                    lease.effectStarts();
                    return "late";
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThat(bench.holder(request("k")).granted().takenOver()).isFalse();
    }

    @Test
    void lease_afterTheActionHasReturned_changesNothingAnyMore() {
        List<Lease> leaked = new ArrayList<>();
        run(lease -> {
            leaked.add(lease);
            return "done";
        });
        assertThatThrownBy(() -> leaked.get(0).extend(LEASE)).isInstanceOf(LeaseLostException.class);
        assertThat(bench.answer(request("k"), "other").response()).isEqualTo("done");
    }

    @Test
    void token_ofTheLease_isTheOneGranted() {
        Holder before = bench.holder(request("k"));
        before.release();
        run(lease -> {
            assertThat(lease.token()).isGreaterThan(before.granted().token());
            assertThat(lease.takenOver()).isFalse();
            return "done";
        });
    }

    @Test
    void renewal_everyThird_outlastsTheLeaseAndEndsWithTheAction() {
        Outcome<String> outcome = runRenewed(lease -> {
            assertThat(scheduler.delays).containsExactly(THIRD.toNanos());
            for (int i = 0; i < 10; i++) {
                bench.time.advance(THIRD);
                scheduler.tick();
                assertThat(lease.remaining()).isEqualTo(LEASE);
            }
            assertThat(bench.answer(request("k"), "other")).isInstanceOf(InProgress.class);
            return "done";
        });
        assertThat(outcome).isEqualTo(new Executed<>("done"));
        assertThat(scheduler.running()).isZero();
    }

    @Test
    void renewal_actionFails_endsToo() {
        assertThatThrownBy(() -> runRenewed(lease -> {
                    throw new IllegalStateException("action");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(scheduler.running()).isZero();
        assertThat(bench.answer(request("k"), "next")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("L-5: the line is down and somebody takes over")
    void renewal_failsAndTakenOver_actionSeesItAndCompletingIsRefused() {
        line.loseQuestions(EXTEND, 3);
        assertThatThrownBy(() -> runRenewed(lease -> {
                    for (int i = 2; i >= 0; i--) {
                        bench.time.advance(THIRD);
                        scheduler.tick();
                        assertThat(lease.remaining()).isEqualTo(THIRD.multipliedBy(i));
                    }
                    bench.holder(request("k"));
                    return "late";
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThat(bench.published).isEmpty();
    }

    @Test
    @DisplayName("L-5: a renewal is told that the lease is lost")
    void renewal_leaseFoundLost_actionSeesThatNothingRemains() {
        assertThatThrownBy(() -> runRenewed(lease -> {
                    // As if this process had stood still, and its clock with it.
                    bench.time.advance(LEASE);
                    bench.holder(request("k"));
                    bench.time.advance(LEASE.negated());
                    assertThat(lease.remaining()).isEqualTo(LEASE);
                    scheduler.tick();
                    assertThat(lease.remaining()).isZero();
                    scheduler.tick();
                    assertThat(line.asked(EXTEND)).isEqualTo(1);
                    lease.effectStarts();
                    return "late";
                }))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void renewal_failsOnce_theNextOneRenews() {
        line.loseQuestions(EXTEND, 1);
        runRenewed(lease -> {
            bench.time.advance(THIRD);
            scheduler.tick();
            bench.time.advance(THIRD);
            scheduler.tick();
            assertThat(lease.remaining()).isEqualTo(LEASE);
            return "done";
        });
    }

    @Test
    @DisplayName("S2: a scheduler that takes no more work")
    void renewal_schedulerIsShutDown_nothingRunsAndTheKeyIsReleased() {
        ScheduledExecutorService dead = Executors.newScheduledThreadPool(1);
        dead.shutdown();
        assertThatThrownBy(() -> bench.store(LeaseOptions.defaults().renewedBy(dead))
                        .execute(request("k"), lease -> "never", bench.publication))
                .isInstanceOf(StoreException.class);
        assertThat(bench.answer(request("k"), "next")).isEqualTo(new Executed<>("next"));
    }

    @Test
    void renewal_realScheduler_renewsUntilTheActionReturns() throws Exception {
        CountDownLatch renewed = new CountDownLatch(2);
        LossyBackend counting = new LossyBackend(bench.leases).on(EXTEND, renewed::countDown);
        ScheduledExecutorService real = Executors.newScheduledThreadPool(1);
        try {
            Outcome<String> outcome = bench.store(
                            counting,
                            LeaseOptions.defaults().lease(Duration.ofMillis(3)).renewedBy(real))
                    .<InterruptedException>execute(
                            request("k"),
                            lease -> {
                                renewed.await();
                                return "done";
                            },
                            bench.publication);
            assertThat(outcome).isEqualTo(new Executed<>("done"));
        } finally {
            real.shutdownNow();
        }
    }

    @Test
    @DisplayName("S10: a renewal under way does not give its lease back to a record that was released and is kept")
    void renewal_underWayWhileTheActionFails_doesNotOutlastTheRelease() throws Exception {
        bench.holder(request("k"));
        bench.time.advance(LEASE);
        Thread caller = Thread.currentThread();
        AtomicBoolean asked = new AtomicBoolean();
        CountDownLatch renewed = new CountDownLatch(1);
        LossyBackend slow = new LossyBackend(bench.leases).on(EXTEND, () -> {
            asked.set(true);
            // Until the caller has given up its lease, or stands at the door because this renewal is under way.
            while (caller.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        });
        ScheduledExecutorService real = Executors.newScheduledThreadPool(1);
        try {
            assertThatThrownBy(() -> bench.store(
                                    slow,
                                    LeaseOptions.defaults()
                                            .lease(Duration.ofMillis(3))
                                            .renewedBy(real))
                            .execute(
                                    request("k"),
                                    lease -> {
                                        while (!asked.get()) {
                                            Thread.onSpinWait();
                                        }
                                        throw new IllegalStateException("action");
                                    },
                                    bench.publication))
                    .hasMessage("action");
            real.execute(renewed::countDown);
            renewed.await();
        } finally {
            real.shutdownNow();
        }
        assertThat(bench.holder(request("k")).granted().takenOver()).isTrue();
    }

    private Outcome<String> run(Action<Lease, String, RuntimeException> action) {
        return bench.store(line, LeaseOptions.defaults()).execute(request("k"), action, bench.publication);
    }

    private Outcome<String> runRenewed(Action<Lease, String, RuntimeException> action) {
        return bench.store(line, LeaseOptions.defaults().renewedBy(scheduler))
                .execute(request("k"), action, bench.publication);
    }

    /** Runs what is scheduled when it is told to. */
    private static final class ManualScheduler extends ScheduledThreadPoolExecutor {

        final List<Long> delays = new ArrayList<>();
        private final List<Runnable> tasks = new ArrayList<>();
        private final List<ScheduledFuture<?>> futures = new ArrayList<>();

        ManualScheduler() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
            delays.add(unit.toNanos(delay));
            tasks.add(task);
            // Far away, for a future that can be cancelled.
            ScheduledFuture<?> future = super.schedule(() -> {}, 1, TimeUnit.DAYS);
            futures.add(future);
            return future;
        }

        void tick() {
            for (int i = 0; i < tasks.size(); i++) {
                if (!futures.get(i).isCancelled()) {
                    tasks.get(i).run();
                }
            }
        }

        long running() {
            return futures.stream().filter(future -> !future.isCancelled()).count();
        }
    }
}
