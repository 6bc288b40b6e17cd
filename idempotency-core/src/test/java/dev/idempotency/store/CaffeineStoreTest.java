package dev.idempotency.store;

import static dev.idempotency.store.Bench.LEASE;
import static dev.idempotency.store.Bench.RETENTION;
import static dev.idempotency.store.Bench.TICK;
import static dev.idempotency.store.Bench.key;
import static dev.idempotency.store.Bench.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Bench.Holder;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The store for one process: its bound, and its place behind a window. */
class CaffeineStoreTest {

    @Test
    @DisplayName("L-11")
    void claim_keysThatWouldShareAStripe_areIndependent() {
        Bench bench = new Bench();
        Holder first = bench.holder(request("0"));
        Holder second = bench.holder(request("641"));
        assertThat(first.complete("first")).isTrue();
        assertThat(second.complete("second")).isTrue();
        assertThat(bench.answer(request("0"), "").response()).isEqualTo("first");
        assertThat(bench.answer(request("641"), "").response()).isEqualTo("second");
    }

    @Test
    @DisplayName("L-12")
    void claim_boundedToOneKeyAndItIsHeld_stillExclusiveAndOthersAreRefused() {
        Bench bench = new Bench(1);
        Holder holder = bench.holder(request("k1"));
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> bench.store()
                        .execute(request("k2"), lease -> "run " + runs.incrementAndGet(), bench.publication))
                .isInstanceOf(RetryableException.class)
                .hasMessageContaining("full")
                .hasMessageContaining("1 keys");
        assertThat(runs).hasValue(0);
        assertThat(bench.answer(request("k1"), "other")).isInstanceOf(InProgress.class);
        assertThat(holder.complete("held")).isTrue();
    }

    @Test
    @DisplayName("L-12: many keys against a bound")
    void claim_manyKeysAgainstABound_nothingIsEverDropped() {
        Bench bench = new Bench(10);
        for (int i = 0; i < 10; i++) {
            bench.answer(request("k" + i), "response " + i);
        }
        for (int i = 10; i < 1_000; i++) {
            String id = "k" + i;
            assertThatThrownBy(() -> bench.answer(request(id), "new")).isInstanceOf(RetryableException.class);
        }
        bench.leases.purge();
        for (int i = 0; i < 10; i++) {
            assertThat(bench.answer(request("k" + i), "new").response()).isEqualTo("response " + i);
        }
    }

    @Test
    @DisplayName("S8, L-12: no room for one more name")
    void execute_knownAndNewNameInAFullStore_isRetryableAndNotReplayedWithoutTheName() {
        Bench bench = new Bench(1);
        bench.answer(request("b1"), "first");
        assertThatThrownBy(() -> bench.answer(request("m2", "b1"), "second")).isInstanceOf(RetryableException.class);
        assertThat(bench.answer(request("b1"), "third")).isInstanceOf(Replayed.class);
        assertThat(bench.published).hasSize(2);
    }

    @Test
    @DisplayName("S8: all or none, for want of room too")
    void claim_roomForOneOfTwoKeys_takesNone() {
        Bench bench = new Bench(2);
        bench.holder(request("a"));
        assertThatThrownBy(() -> bench.holder(request("b", "c"))).isInstanceOf(RetryableException.class);
        assertThat(bench.holder(request("b")).granted().takenOver()).isFalse();
    }

    @Test
    void claim_roomGivenBackByRelease_isUsedAtOnce() {
        Bench bench = new Bench(2);
        for (int i = 0; i < 100; i++) {
            assertThat(bench.holder(request("a" + i, "b" + i)).release()).isTrue();
        }
    }

    @Test
    void claim_roomGivenBackByExpiry_isUsed() {
        Bench bench = new Bench(1);
        bench.answer(request("a"), "first");
        bench.time.advance(RETENTION);
        assertThat(bench.answer(request("a"), "second")).isEqualTo(new Executed<>("second"));
        bench.time.advance(RETENTION.plusSeconds(3));
        assertThat(bench.answer(request("b"), "third")).isEqualTo(new Executed<>("third"));
    }

    @Test
    void claim_sameKeyExpiredAMomentAgoInAFullStore_itsRoomIsUsedAtOnce() {
        Bench bench = new Bench(1);
        LeasedStore<String> store =
                bench.store(LeaseOptions.defaults().lease(Duration.ofMillis(1)).retention(Duration.ofMillis(10)));
        for (int i = 0; i < 5; i++) {
            String response = "response " + i;
            assertThat(store.execute(request("a"), lease -> response, bench.publication))
                    .isEqualTo(new Executed<>(response));
            bench.time.advance(Duration.ofMillis(10));
        }
    }

    @Test
    void claim_takeoverInAFullStore_needsNoRoom() {
        Bench bench = new Bench(1);
        bench.holder(request("a"));
        bench.time.advance(LEASE);
        assertThat(bench.answer(request("a"), "next")).isEqualTo(new Executed<>("next"));
    }

    @Test
    @DisplayName("W-10, W3: the record expires before the window's entry does")
    void execute_recordExpiredBehindAWindow_countsAsNew() {
        FakeTime time = new FakeTime();
        Idempotency<Lease, String> sends = behindAWindow(time, Duration.ofMinutes(10));
        sends.execute(request("k"), lease -> "first");
        time.advance(Duration.ofMinutes(9));
        sends.window().clear();
        assertThat(sends.execute(request("k"), lease -> "second"))
                .isEqualTo(new Replayed<>("first", key("k"), Source.STORE));
        time.advance(Duration.ofMinutes(1).minus(TICK));
        assertThat(sends.execute(request("k"), lease -> "third"))
                .isEqualTo(new Replayed<>("first", key("k"), Source.WINDOW));
        time.advance(TICK);
        assertThat(sends.execute(request("k"), lease -> "fourth")).isEqualTo(new Executed<>("fourth"));
    }

    @Test
    @DisplayName("W-9, K-3: in the window as in the store")
    void execute_otherFingerprintAtTheWindow_isAMismatch() {
        Idempotency<Lease, String> sends = behindAWindow(new FakeTime(), RETENTION);
        sends.execute(request("k").fingerprint(Fingerprint.sha256("one")), lease -> "first");
        Outcome<String> outcome =
                sends.execute(request("k").fingerprint(Fingerprint.sha256("other")), lease -> "second");
        assertThat(outcome).isEqualTo(new Mismatch<>(key("k")));
    }

    @Test
    @DisplayName("W2, S8: names that met in two calls are one record for the window too")
    void execute_namesAddedInAnotherCall_hitTheWindowTogether() {
        Idempotency<Lease, String> sends = behindAWindow(new FakeTime(), RETENTION);
        sends.execute(request("m1", "b1"), lease -> "first");
        sends.window().remove(key("b1"));
        sends.execute(request("m2", "b1"), lease -> "second");
        assertThat(sends.execute(request("m1", "m2", "b1"), lease -> "third"))
                .isEqualTo(new Replayed<>("first", key("m1"), Source.WINDOW));
    }

    @Test
    @DisplayName("W3: a window longer than the retention")
    void build_windowLongerThanTheRetention_isRefused() {
        var store = CaffeineStore.leased(Codec.utf8(), LeaseOptions.defaults().retention(Duration.ofMinutes(1)));
        assertThatThrownBy(() -> Idempotency.with(store)
                        .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                        .build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void execute_defaultsAndRealClock_replays() {
        Idempotency<Lease, String> sends = Idempotency.with(CaffeineStore.leased(Codec.utf8()))
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();
        assertThat(sends.execute(request("k"), lease -> "first")).isEqualTo(new Executed<>("first"));
        assertThat(sends.execute(request("k"), lease -> "second").response()).isEqualTo("first");
    }

    private static Idempotency<Lease, String> behindAWindow(FakeTime time, Duration retention) {
        return Idempotency.with(CaffeineStore.leased(
                        Codec.utf8(), LeaseOptions.defaults().retention(retention), 100, time::now))
                .window(CaffeineWindow.lasting(Duration.ofMinutes(10)).ticker(time::now))
                .build();
    }
}
