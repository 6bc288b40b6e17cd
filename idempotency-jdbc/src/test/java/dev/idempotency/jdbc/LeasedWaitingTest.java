package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** S14: those who wait for a lease wait outside the pool, and one of them asks. */
@ParameterizedClass
@EnumSource(names = {"H2", "POSTGRESQL_17", "MARIADB"})
class LeasedWaitingTest {

    private static final int DUPLICATES = 1_000;

    @AutoClose
    private final LeaseTable table;

    private final Request request = request("m1");
    private final LeaseOptions waits = LeaseOptions.defaults().lease(LEASE).waitAtMost(Duration.ofMinutes(2));
    private final IdempotencyStore<Lease, String> store;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    LeasedWaitingTest(TestDatabase database) {
        table = new LeaseTable(database);
        store = table.store(waits);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private Future<Outcome<String>> send(Request sent, String response) {
        return threads.submit(() -> answer(store, sent, response));
    }

    private static void awaitWaiting(Thread thread) {
        // The thread is seen to wait before the test goes on; there is no event for that to wait for.
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
            if (!thread.isAlive()) {
                throw new AssertionError("it did not wait");
            }
        }
    }

    /** Counts down at each claim that somebody makes in the database. */
    private CountDownLatch claims(int number) {
        CountDownLatch claims = new CountDownLatch(number);
        table.dataSource.fault(new Fault() {
            @Override
            public void after(Connection real, String call) {
                if (call.startsWith("SELECT")) {
                    claims.countDown();
                }
            }
        });
        return claims;
    }

    @Test
    @DisplayName("J-18: 1,000 duplicates of one slow key hold no connection, ask nothing, and get the one response")
    void duplicates_waitOutsideThePool() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> store.<InterruptedException>execute(
                request,
                lease -> {
                    inside.countDown();
                    go.await();
                    return "ok";
                },
                (n, o, r) -> {}));
        inside.await();
        assertThat(table.dataSource.openConnections())
                .as("while an action runs")
                .isZero();
        table.dataSource.forget();
        List<Thread> waiting = new ArrayList<>();
        List<CompletableFuture<Outcome<String>>> duplicates = new ArrayList<>();
        for (int i = 0; i < DUPLICATES; i++) {
            CompletableFuture<Outcome<String>> answer = new CompletableFuture<>();
            Thread thread = new Thread(() -> answer.complete(answer(store, request, "twice")), "duplicate");
            duplicates.add(answer);
            waiting.add(thread);
            thread.start();
        }
        waiting.forEach(LeasedWaitingTest::awaitWaiting);
        assertThat(table.dataSource.calls()).isEmpty();
        assertThat(answer(store, request("other"), "x")).isInstanceOf(Executed.class);
        table.dataSource.forget();
        go.countDown();

        assertThat(first.get()).isEqualTo(new Executed<>("ok"));
        for (CompletableFuture<Outcome<String>> duplicate : duplicates) {
            assertThat(duplicate.get()).isEqualTo(new Replayed<>("ok", messageKey("m1"), Source.STORE));
        }
        assertThat(table.dataSource.calls())
                .as("the first one's completion, and nothing by those who waited")
                .hasSize(1);
    }

    @Test
    @DisplayName("S14, L-6: another server holds the key: one asks for all, and all get its response")
    void anotherServerHolds_oneAsks() throws Exception {
        Holder holder = LeaseTable.hold(table.anotherServer(), request);
        List<Future<Outcome<String>>> waiting = new ArrayList<>();
        CountDownLatch asked = claims(3);
        for (int i = 0; i < 20; i++) {
            waiting.add(send(request, "twice"));
        }
        asked.await();
        assertThat(table.dataSource.mostConnections()).as("connections at once").isEqualTo(1);
        holder.complete("by the other server");

        for (Future<Outcome<String>> each : waiting) {
            assertThat(each.get()).isEqualTo(new Replayed<>("by the other server", messageKey("m1"), Source.STORE));
        }
        assertThat(table.dataSource.mostConnections()).as("connections at once").isEqualTo(1);
    }

    @Test
    @DisplayName("S14: the one in front fails, or the holder releases: one of the rest goes next")
    void frontFails_nextExecutes() throws Exception {
        Holder holder = table.hold(request);
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch asked = claims(2);
        List<Future<Outcome<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            answers.add(threads.submit(() -> store.execute(
                    request,
                    lease -> {
                        if (runs.incrementAndGet() <= 3) {
                            throw new IllegalStateException("action");
                        }
                        return "ok";
                    },
                    (n, o, r) -> {})));
        }
        asked.await();
        holder.release();

        int failed = 0;
        int executed = 0;
        for (Future<Outcome<String>> each : answers) {
            try {
                executed += each.get() instanceof Executed ? 1 : 0;
            } catch (ExecutionException e) {
                assertThat(e).hasRootCauseMessage("action");
                failed++;
            }
        }
        assertThat(failed).isEqualTo(3);
        assertThat(executed).isEqualTo(1);
    }

    @Test
    @DisplayName("K-3, S14: one who waited is a mismatch, by its own fingerprint")
    void waiterWithAnotherFingerprint_isAMismatch() throws Exception {
        Holder holder = table.hold(request.fingerprint(Fingerprint.sha256("a")));
        CountDownLatch asked = claims(1);
        Future<Outcome<String>> same = send(request.fingerprint(Fingerprint.sha256("a")), "no");
        asked.await();
        Future<Outcome<String>> changed = send(request.fingerprint(Fingerprint.sha256("b")), "no");
        holder.complete("ok");

        assertThat(same.get().response()).isEqualTo("ok");
        assertThat(changed.get()).isEqualTo(new Mismatch<>(messageKey("m1")));
    }

    @Test
    @DisplayName("L-14, K-3: who gives up at the gate asks for itself: in progress for so long, or a mismatch")
    void timeIsOverAtTheGate_asksForItself() throws Exception {
        Request original = request.fingerprint(Fingerprint.sha256("a"));
        IdempotencyStore<Lease, String> brief =
                table.store(LeaseOptions.defaults().lease(LEASE).waitAtMost(Duration.ofMillis(1)));
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> brief.<InterruptedException>execute(
                original,
                lease -> {
                    inside.countDown();
                    go.await();
                    return "ok";
                },
                (n, o, r) -> {}));
        inside.await();
        String before = table.rows();

        assertThat(answer(brief, original, "no"))
                .isInstanceOfSatisfying(
                        InProgress.class,
                        refused -> assertThat(refused.retryAfter()).isGreaterThan(LEASE.minusMinutes(1)));
        assertThat(answer(brief, request.fingerprint(Fingerprint.sha256("b")), "no"))
                .isEqualTo(new Mismatch<>(messageKey("m1")));
        assertThat(table.rows()).isEqualTo(before);
        go.countDown();
        assertThat(first.get()).isEqualTo(new Executed<>("ok"));
    }

    @Test
    @DisplayName("L-8: the one in front overruns its lease: who stood as long as a lease takes over past it")
    void frontOverruns_isTakenOverInThisProcessToo() throws Exception {
        IdempotencyStore<Lease, String> brief =
                table.store(LeaseOptions.defaults().lease(Duration.ofMillis(1)).waitAtMost(Duration.ofHours(1)));
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> hangs = threads.submit(() -> brief.<InterruptedException>execute(
                request,
                lease -> {
                    inside.countDown();
                    go.await();
                    return "late";
                },
                (n, o, r) -> {}));
        inside.await();

        assertThat(brief.execute(request, lease -> "taken over " + lease.takenOver(), (n, o, r) -> {}))
                .isEqualTo(new Executed<>("taken over true"));
        go.countDown();
        assertThatThrownBy(hangs::get).hasRootCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    @DisplayName("S14: a call that meets its own key from inside its action is refused at once")
    void ownKeyInsideTheAction_isRefusedAtOnce() {
        assertThat(store.execute(
                        request,
                        lease -> answer(store, request, "nested") instanceof InProgress ? "refused" : "not refused",
                        (n, o, r) -> {}))
                .isEqualTo(new Executed<>("refused"));
    }

    @Test
    @DisplayName("J-14: a thread that is interrupted at the gate stops with its flag set, and the store goes on")
    void interruptedAtTheGate_stops() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> store.<InterruptedException>execute(
                request,
                lease -> {
                    inside.countDown();
                    go.await();
                    return "ok";
                },
                (n, o, r) -> {}));
        inside.await();
        CompletableFuture<@Nullable Boolean> interrupted = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                answer(store, request, "twice");
            } catch (RetryableException e) {
                interrupted.complete(Thread.currentThread().isInterrupted());
            }
        });
        waiter.start();
        awaitWaiting(waiter);
        waiter.interrupt();

        assertThat(interrupted.get()).isTrue();
        go.countDown();
        assertThat(first.get()).isEqualTo(new Executed<>("ok"));
        assertThat(answer(store, request, "no")).isInstanceOf(Replayed.class);
    }
}
