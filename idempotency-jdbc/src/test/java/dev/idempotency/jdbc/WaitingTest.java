package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** S14: duplicates wait outside the pool. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class WaitingTest {

    private static final int DUPLICATES = 1_000;

    private final Messages messages;
    private final Request slow = request("slow");
    private final ExecutorService threads = Executors.newCachedThreadPool();

    WaitingTest(TestDatabase database) {
        messages = new Messages(database);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private static void awaitBlocked(List<Thread> waiting) {
        // Each thread is seen to wait before the test goes on; there is no event for that to wait for.
        for (Thread thread : waiting) {
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
                if (!thread.isAlive()) {
                    throw new AssertionError("a duplicate did not wait");
                }
            }
        }
    }

    @Test
    @DisplayName(
            "J-18: 1,000 duplicates of one slow key hold no connection; other keys go on; all get the one response")
    void duplicatesOfSlowKey_useOneConnection() throws Exception {
        JdbcStore<String> store = messages.store();
        messages.dataSource.forget();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> store.<InterruptedException>execute(
                slow,
                handle -> {
                    inside.countDown();
                    go.await();
                    return insert(handle, slow, "ok");
                },
                (n, o, r) -> {}));
        inside.await();
        List<Thread> waiting = new ArrayList<>();
        List<CompletableFuture<Outcome<String>>> duplicates = new ArrayList<>();
        for (int i = 0; i < DUPLICATES; i++) {
            CompletableFuture<Outcome<String>> answer = new CompletableFuture<>();
            Thread thread = new Thread(
                    () -> answer.complete(store.execute(slow, insert(slow, "twice"), (n, o, r) -> {})), "duplicate");
            duplicates.add(answer);
            waiting.add(thread);
            thread.start();
        }
        awaitBlocked(waiting);

        assertThat(messages.dataSource.openConnections()).isEqualTo(1);
        Request other = request("other");
        assertThat(store.execute(other, insert(other, "x"), (n, o, r) -> {})).isInstanceOf(Executed.class);
        messages.dataSource.forget();
        go.countDown();

        assertThat(first.get()).isEqualTo(new Executed<>("ok"));
        for (CompletableFuture<Outcome<String>> duplicate : duplicates) {
            assertThat(duplicate.get())
                    .isEqualTo(new Replayed<>("ok", slow.keys().get(0), Outcome.Source.STORE));
        }
        assertThat(messages.dataSource.calls())
                .as("the first one's insert and commit, and nothing by those who waited")
                .hasSize(2);
    }

    @Test
    @DisplayName("S14: if the one in front fails, one of the rest goes next")
    void frontFails_nextExecutes() throws Exception {
        JdbcStore<String> store = messages.store();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger failures = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        List<Future<Outcome<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            answers.add(threads.submit(() -> store.<InterruptedException>execute(
                    slow,
                    handle -> {
                        inside.countDown();
                        go.await();
                        insert(handle, slow, "ok");
                        if (runs.incrementAndGet() <= 3) {
                            throw new IllegalStateException("action");
                        }
                        return "ok";
                    },
                    (n, o, r) -> {})));
        }
        inside.await();
        go.countDown();

        int executed = 0;
        for (Future<Outcome<String>> answer : answers) {
            try {
                executed += answer.get() instanceof Executed ? 1 : 0;
            } catch (java.util.concurrent.ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(IllegalStateException.class);
                failures.incrementAndGet();
            }
        }
        assertThat(executed).isEqualTo(1);
        assertThat(failures).hasValue(3);
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S14, K-3: each of those who wait compares its own fingerprint")
    void waiterWithOtherFingerprint_isMismatch() throws Exception {
        JdbcStore<String> store = messages.store();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> store.<InterruptedException>execute(
                slow.fingerprint(Fingerprint.sha256("a")),
                handle -> {
                    inside.countDown();
                    go.await();
                    return insert(handle, slow, "ok");
                },
                (n, o, r) -> {}));
        inside.await();
        CompletableFuture<Outcome<String>> answer = new CompletableFuture<>();
        Thread other = new Thread(() -> answer.complete(
                store.execute(slow.fingerprint(Fingerprint.sha256("b")), insert(slow, "other"), (n, o, r) -> {})));
        other.start();
        awaitBlocked(List.of(other));
        go.countDown();

        assertThat(first.get()).isInstanceOf(Executed.class);
        assertThat(answer.get()).isEqualTo(new Mismatch<>(slow.keys().get(0)));
    }

    @Test
    @DisplayName("S14, L-14: waiting is bounded: in progress, and the holder's row is untouched")
    void waiterGivesUp_isInProgress() throws Exception {
        JdbcStore<String> store = JdbcStores.yourTable(
                messages.jdbi, Messages::find, YourTableOptions.defaults().waitAtMost(Duration.ofMillis(1)));
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> store.<InterruptedException>execute(
                slow,
                handle -> {
                    inside.countDown();
                    go.await();
                    return insert(handle, slow, "ok");
                },
                (n, o, r) -> {}));
        inside.await();

        Outcome<String> outcome = store.execute(slow, insert(slow, "twice"), (n, o, r) -> {});

        assertThat(outcome).isInstanceOfSatisfying(InProgress.class, refused -> {
            assertThat(refused.key()).isEqualTo(slow.keys().get(0));
            assertThat(refused.retryAfter()).isPositive();
        });
        go.countDown();
        assertThat(first.get()).isEqualTo(new Executed<>("ok"));
    }

    @Test
    @DisplayName("J-14: a thread that waits is interrupted: it stops, its flag is set, an H2 file stays usable")
    void interruptedWhileWaiting_stops(@TempDir Path folder) throws Exception {
        Messages inFile = new Messages("file:" + folder.resolve("db"));
        JdbcStore<String> store = inFile.store();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> store.<InterruptedException>execute(
                slow,
                handle -> {
                    inside.countDown();
                    go.await();
                    return insert(handle, slow, "ok");
                },
                (n, o, r) -> {}));
        inside.await();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            assertThatThrownBy(() -> store.execute(slow, insert(slow, "twice"), (n, o, r) -> {}))
                    .isInstanceOf(RetryableException.class);
            flag.complete(Thread.currentThread().isInterrupted());
        });
        waiter.start();
        awaitBlocked(List.of(waiter));

        waiter.interrupt();

        assertThat(flag.get()).isTrue();
        go.countDown();
        assertThat(first.get()).isInstanceOf(Executed.class);
        assertThat(inFile.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "J-14: a thread that comes interrupted does not touch the database, whose file an interrupt would close")
    void interruptedBefore_touchesNothing(@TempDir Path folder) {
        Messages inFile = new Messages("file:" + folder.resolve("db"));
        JdbcStore<String> store = inFile.store();
        inFile.dataSource.forget();

        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> store.execute(slow, insert(slow, "x"), (n, o, r) -> {}))
                .isInstanceOf(RetryableException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(inFile.dataSource.calls()).isEmpty();
        assertThat(store.execute(slow, insert(slow, "x"), (n, o, r) -> {})).isInstanceOf(Executed.class);
    }
}
