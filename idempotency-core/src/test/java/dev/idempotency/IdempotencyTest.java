package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The front door: what it asks the window, what it publishes, and whom it tells. The store is scripted per test. */
class IdempotencyTest {

    private static final IdempotencyKey A = IdempotencyKey.of("n", "s", "a");
    private static final IdempotencyKey B = IdempotencyKey.of("n", "s", "b");
    private static final Duration LASTING = Duration.ofSeconds(32);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5_000_000_000L);
    private final Scripted store = new Scripted();
    private final List<String> seen = new ArrayList<>();
    private final Idempotency<String, String> door = Idempotency.with(store)
            .window(CaffeineWindow.lasting(LASTING).ticker(nanos::get).executor(Runnable::run))
            .listener(new Noted())
            .build();

    /** Runs each action, and publishes what the test says. */
    private static class Scripted implements IdempotencyStore<String, String> {
        int asked;
        List<IdempotencyKey> names = List.of();
        Object identity = new Object();

        @Nullable
        Duration remaining;

        @Nullable
        Duration retention;

        Runnable meanwhile = () -> {};

        @Override
        public <X extends Exception> Outcome<String> execute(
                Request request,
                Action<? super String, ? extends String, X> action,
                Publication<? super String> publication)
                throws X {
            asked++;
            String response = action.run("context");
            meanwhile.run();
            publication.committed(names, new Original<>(identity, response, request.fingerprint()), remaining);
            return new Executed<>(response);
        }

        @Override
        public @Nullable Duration retention() {
            return retention;
        }
    }

    private class Noted implements IdempotencyListener {
        @Override
        public void answered(Request request, Outcome<?> outcome, Duration elapsed) {
            assertThat(elapsed).isGreaterThanOrEqualTo(Duration.ZERO);
            seen.add("answered " + outcome.getClass().getSimpleName());
        }

        @Override
        public void failed(Request request, Throwable failure, Duration elapsed) {
            seen.add("failed " + failure.getMessage());
        }

        @Override
        public void windowFailed(Throwable failure) {
            seen.add("window " + failure.getMessage());
        }
    }

    private Outcome<String> execute(Request request) {
        return door.execute(request, context -> "run " + store.asked);
    }

    @Test
    @DisplayName("W1: only what the store publishes is in the window")
    void notPublished_isAskedAgain() {
        execute(Request.of(A));
        execute(Request.of(A));

        assertThat(store.asked).isEqualTo(2);
    }

    @Test
    @DisplayName("W2: several keys: the window answers if each hits the same record")
    void allKeysHitSameRecord_isWindowHit() {
        store.names = List.of(A, B);
        execute(Request.of(A).and(B));

        assertThat(execute(Request.of(B).and(A))).isEqualTo(new Replayed<>("run 1", B, Source.WINDOW));
        assertThat(store.asked).isEqualTo(1);
    }

    @Test
    @DisplayName("W2: several keys: one that misses, or hits another record, sends the call to the store")
    void keysOfDifferentRecords_goToStore() {
        store.names = List.of(A);
        execute(Request.of(A));
        execute(Request.of(A).and(B));
        assertThat(store.asked).isEqualTo(2);

        store.names = List.of(B);
        store.identity = new Object();
        execute(Request.of(B));
        execute(Request.of(A).and(B));
        assertThat(store.asked).isEqualTo(4);
    }

    @Test
    @DisplayName("W3, W-9: a hit with another fingerprint is a mismatch; one without a fingerprint is not compared")
    void hitWithOtherFingerprint_isMismatch() {
        store.names = List.of(A);
        execute(Request.of(A).fingerprint(Fingerprint.sha256("1")));

        assertThat(execute(Request.of(A).fingerprint(Fingerprint.sha256("2")))).isEqualTo(new Mismatch<>(A));
        assertThat(execute(Request.of(A))).isInstanceOf(Replayed.class);
    }

    @Test
    @DisplayName(
            "W3, W-10: a record that expires before the window's entry is new, on a clock that passes through overflow")
    void recordExpires_beforeWindow() {
        store.names = List.of(A);
        store.remaining = Duration.ofSeconds(10);
        execute(Request.of(A));

        nanos.addAndGet(Duration.ofSeconds(10).toNanos() - 1);
        assertThat(execute(Request.of(A))).isInstanceOf(Replayed.class);
        nanos.addAndGet(1);
        assertThat(execute(Request.of(A))).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("W3: what remains counts from before the store was asked")
    void remaining_countsFromBeforeTheStoreWasAsked() {
        store.names = List.of(A);
        store.remaining = Duration.ofSeconds(10);
        store.meanwhile = () -> nanos.addAndGet(Duration.ofSeconds(10).toNanos());
        execute(Request.of(A));

        assertThat(execute(Request.of(A))).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("W4, W-6: repeats do not prolong an entry")
    void repeats_doNotProlong() {
        store.names = List.of(A);
        execute(Request.of(A));
        for (int second = 8; second < 32; second += 8) {
            nanos.addAndGet(Duration.ofSeconds(8).toNanos());
            assertThat(execute(Request.of(A))).isInstanceOf(Replayed.class);
        }
        nanos.addAndGet(Duration.ofSeconds(8).toNanos());

        assertThat(execute(Request.of(A))).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("W2: clear and remove hold back what a call under way would still publish")
    void clearedWhileUnderWay_isNotPublished() {
        store.names = List.of(A);
        for (Runnable gone : List.<Runnable>of(
                () -> door.window().clear(), () -> door.window().remove(A))) {
            store.meanwhile = gone;
            execute(Request.of(A));
            assertThat(door.window().get(A)).isNull();
        }
    }

    @Test
    @DisplayName("W2: a window that fails at any moment costs a trip to the store, and never the call")
    void failingWindow_costsATrip() {
        store.names = List.of(A);
        for (String call : List.of("get", "now", "put")) {
            seen.clear();
            Idempotency<String, String> broken = Idempotency.with(store)
                    .window(new Broken(call))
                    .listener(new Noted())
                    .build();

            assertThat(broken.execute(Request.of(A), context -> "ok")).isEqualTo(new Executed<>("ok"));
            assertThat(broken.execute(Request.of(A), context -> "ok")).isEqualTo(new Executed<>("ok"));

            assertThat(seen).filteredOn(("window " + call)::equals).hasSize(2);
        }
    }

    @Test
    @DisplayName("W2: a put that fails while its key is removed is taken back, as it may have kept it all the same")
    void removedWhileAPutFails_isTakenBack() {
        store.names = List.of(A);
        Broken failing = new Broken("put");
        Idempotency<String, String> broken =
                Idempotency.with(store).window(failing).listener(new Noted()).build();
        failing.whilePutting = () -> broken.window().remove(A);
        broken.execute(Request.of(A), context -> "ok");

        assertThat(seen).containsSubsequence("removed a", "removed a", "window put");
    }

    /** A window of which one call fails, with an error. */
    private final class Broken implements Window.Spec {

        private final String failing;
        Runnable whilePutting = () -> {};

        Broken(String failing) {
            this.failing = failing;
        }

        private void called(String call) {
            if (call.equals(failing)) {
                throw new AssertionError(call);
            }
            seen.add(call);
        }

        @Override
        public Duration lasting() {
            return LASTING;
        }

        @Override
        public <R extends @Nullable Object> Window<R> create() {
            return new Window<>() {
                @Override
                public long now() {
                    called("now");
                    return 0;
                }

                @Override
                public @Nullable Original<R> get(IdempotencyKey key) {
                    called("get");
                    return null;
                }

                @Override
                public void put(IdempotencyKey key, Original<R> original, long deadline) {
                    whilePutting.run();
                    called("put");
                }

                @Override
                public void remove(IdempotencyKey key) {
                    seen.add("removed " + key.id());
                }

                @Override
                public void clear() {}

                @Override
                public Stats stats() {
                    return new Stats(0, 0, 0, 0);
                }
            };
        }
    }

    @Test
    @DisplayName("The listener sees each outcome and each failure; the caller's exception passes unchanged")
    void listener_seesOutcomesAndFailures() {
        store.names = List.of(A);
        execute(Request.of(A));
        execute(Request.of(A));
        Exception failure = new Exception("action");
        assertThatThrownBy(() -> door.execute(Request.of(B), context -> {
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(seen).containsExactly("answered Executed", "answered Replayed", "failed action");
    }

    @Test
    @DisplayName("A listener that throws, errors too, changes nothing, and is logged")
    void throwingListener_changesNothing() {
        List<Throwable> logged = new ArrayList<>();
        Logger logger = Logger.getLogger("dev.idempotency");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                logged.add(record.getThrown());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try {
            Idempotency<String, String> rude = Idempotency.with(store)
                    .listener(new IdempotencyListener() {
                        @Override
                        public void answered(Request request, Outcome<?> outcome, Duration elapsed) {
                            throw new AssertionError("listener");
                        }
                    })
                    .build();
            assertThat(rude.execute(Request.of(A), context -> "ok").response()).isEqualTo("ok");
        } finally {
            logger.removeHandler(handler);
        }
        assertThat(logged).singleElement().satisfies(e -> assertThat(e).hasMessage("listener"));
    }

    @Test
    @DisplayName(
            "Remember: an executed request under all keys; no replay, as its fingerprint is not known, and no refusal")
    void remember_putsWhatIsKnown() {
        door.remember(Request.of(A).and(B), new Executed<>("one"));
        assertThat(execute(Request.of(A).and(B))).isEqualTo(new Replayed<>("one", A, Source.WINDOW));

        door.window().clear();
        door.remember(Request.of(A), new Replayed<>("two", A, Source.STORE));
        door.remember(Request.of(A), new InProgress<>(A, LASTING));
        door.remember(Request.of(A), new Mismatch<>(A));
        assertThat(door.window().get(A)).isNull();
    }

    @Test
    @DisplayName("W3: without its clock nothing is published, as an entry could outlast its record")
    void failingClock_publishesNothing() {
        store.names = List.of(A);
        Idempotency<String, String> broken = Idempotency.with(store)
                .window(new Broken("now"))
                .listener(new Noted())
                .build();
        broken.execute(Request.of(A), context -> "ok");

        assertThat(seen).contains("window now").doesNotContain("put");
    }

    @Test
    @DisplayName("W3: a window longer than the store's retention is refused when built")
    void windowLongerThanRetention_isRefused() {
        store.retention = LASTING.minusNanos(1);
        assertThatThrownBy(() -> Idempotency.with(store)
                        .window(CaffeineWindow.lasting(LASTING))
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT32S");
        store.retention = LASTING;
        Idempotency.with(store).window(CaffeineWindow.lasting(LASTING)).build();
    }

    @Test
    @DisplayName("Using another store keeps the window and the listener")
    void using_keepsWindowAndListener() {
        Scripted other = new Scripted();
        other.names = List.of(A);
        door.using(other).execute(Request.of(A), context -> "other");

        assertThat(execute(Request.of(A))).isEqualTo(new Replayed<>("other", A, Source.WINDOW));
        assertThat(seen).containsExactly("answered Executed", "answered Replayed");
    }

    @Test
    @DisplayName("K-1: a null response is a hit like any other")
    void nullResponse_isHit() {
        store.names = List.of(A);
        door.<RuntimeException>execute(Request.of(A), context -> nothing());

        assertThat(execute(Request.of(A))).isEqualTo(new Replayed<>(nothing(), A, Source.WINDOW));
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // Null is what the test is about.
    private static <T> T nothing() {
        return null;
    }
}
