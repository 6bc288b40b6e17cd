package dev.idempotency.store;

import static dev.idempotency.store.Bench.key;
import static dev.idempotency.store.Bench.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.UnreadableRecordException;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers, failures, responses and fingerprints of the lease protocol. */
class LeasedStoreTest {

    private static final Fingerprint ONE = Fingerprint.sha256("one");
    private static final Fingerprint OTHER = Fingerprint.sha256("other");

    private final Bench bench = new Bench();

    @Test
    void execute_newKey_executesAndPublishesWithTheWholeRetention() {
        Outcome<String> outcome = bench.answer(request("a", "b").fingerprint(ONE), "first");

        assertThat(outcome).isEqualTo(new Executed<>("first"));
        assertThat(bench.published).singleElement().satisfies(published -> {
            assertThat(published.names()).containsExactly(key("a"), key("b"));
            assertThat(published.original().response()).isEqualTo("first");
            assertThat(published.original().fingerprint()).isEqualTo(ONE);
            assertThat(published.remaining()).isEqualTo(Bench.RETENTION);
        });
    }

    @Test
    @DisplayName("W3, W4")
    void execute_repeat_replaysAndPublishesTheSameRecordWithWhatRemains() {
        bench.answer(request("a"), "first");
        bench.time.advance(Duration.ofHours(23));

        assertThat(bench.answer(request("a"), "second")).isEqualTo(new Replayed<>("first", key("a"), Source.STORE));
        assertThat(bench.published).hasSize(2);
        assertThat(bench.published.get(1).remaining()).isEqualTo(Duration.ofHours(1));
        assertThat(bench.published.get(1).original().identity())
                .isEqualTo(bench.published.get(0).original().identity());
    }

    @Test
    @DisplayName("K-5")
    void execute_sameIdOfAnotherSenderOrOperation_isAnotherRecord() {
        for (IdempotencyKey key : List.of(
                IdempotencyKey.of("im", "ana", "1"),
                IdempotencyKey.of("im", "ben", "1"),
                IdempotencyKey.of("notice", "ana", "1"))) {
            assertThat(bench.answer(Request.of(key), "first")).isInstanceOf(Executed.class);
        }
    }

    @Test
    @DisplayName("S2: a failure that leaves nothing behind")
    void execute_actionThrows_exceptionIsUnchangedAndTheNextCallExecutes() {
        IOException failure = new IOException("no route");

        assertThat(catchThrowable(() -> bench.store()
                        .execute(
                                request("a", "b"),
                                lease -> {
                                    throw failure;
                                },
                                bench.publication)))
                .isSameAs(failure)
                .hasNoSuppressedExceptions();
        assertThat(bench.published).isEmpty();
        assertThat(bench.answer(request("a"), "next")).isInstanceOf(Executed.class);
        assertThat(bench.answer(request("b"), "next")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S2: an Error is a failure too")
    void execute_actionThrowsAnError_isReleased() {
        assertThatThrownBy(() -> bench.store()
                        .execute(
                                request("a"),
                                lease -> {
                                    throw new StackOverflowError();
                                },
                                bench.publication))
                .isInstanceOf(StackOverflowError.class);
        assertThat(bench.answer(request("a"), "next")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("R-10")
    void execute_failedAndRetriedAtOnce_executes() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> fail(LeaseOptions.defaults(), false)).isInstanceOf(IOException.class);
        }
        assertThat(bench.answer(request("a"), "fourth")).isEqualTo(new Executed<>("fourth"));
    }

    @Test
    @DisplayName("K-6: after the effect the key is kept until the lease ends")
    void execute_actionThrowsAfterTheEffect_keptUntilTheLeaseEndsThenTakenOver() {
        assertThatThrownBy(() -> fail(LeaseOptions.defaults(), true)).isInstanceOf(IOException.class);

        assertThat(bench.answer(request("a"), "too early")).isEqualTo(new InProgress<>(key("a"), Bench.LEASE));
        bench.time.advance(Bench.LEASE);
        AtomicBoolean takenOver = new AtomicBoolean();
        Outcome<String> outcome = bench.store()
                .execute(
                        request("a"),
                        lease -> {
                            takenOver.set(lease.takenOver());
                            return "next";
                        },
                        bench.publication);
        assertThat(outcome).isInstanceOf(Executed.class);
        assertThat(takenOver).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    @DisplayName("K-6: a rule decides both ways")
    void execute_ruleOnTheException_decidesWhetherTheKeyIsReleased(boolean effect, boolean release) {
        LeaseOptions options = LeaseOptions.defaults()
                .releaseIf((failure, started) -> failure instanceof IOException && started == effect && release);

        assertThatThrownBy(() -> fail(options, effect)).isInstanceOf(IOException.class);

        assertThat(bench.answer(request("a"), "next")).isInstanceOf(release ? Executed.class : InProgress.class);
    }

    @Test
    @DisplayName("K-6: a rule that throws keeps the key")
    void execute_ruleThrows_keyIsKeptAndTheActionsExceptionComesThrough() {
        IllegalStateException broken = new IllegalStateException("broken rule");
        LeaseOptions options = LeaseOptions.defaults().releaseIf((failure, started) -> {
            throw broken;
        });

        assertThatThrownBy(() -> fail(options, false))
                .isInstanceOf(IOException.class)
                .hasSuppressedException(broken);
        assertThat(bench.answer(request("a"), "next")).isInstanceOf(InProgress.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "false", "[]"})
    @DisplayName("K-1")
    void execute_emptyLookingResponse_runsOnceAndReplaysTheSame(String response) {
        bench.answer(request("a"), response);
        assertThat(bench.answer(request("a"), "other").response()).isEqualTo(response);
    }

    @Test
    @DisplayName("K-1: null")
    void execute_nullResponse_runsOnceAndReplaysNull() {
        LeasedStore<String> store = bench.store();
        AtomicInteger runs = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            Outcome<String> outcome = store.execute(request("a"), lease -> nothing(runs), bench.publication);
            assertThat(outcome).isInstanceOf(i == 0 ? Executed.class : Replayed.class);
            assertThat(outcome.response()).isNull();
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("K-2")
    void execute_responseMutatedAfterTheCall_replayIsWhatWasStored() {
        LeasedStore<byte[]> store = new LeasedStore<>(bench.leases, Codec.bytes(), LeaseOptions.defaults(), bench.time);
        byte[] response = new byte[70_000];
        Arrays.fill(response, (byte) 7);
        byte[] stored = response.clone();
        store.execute(request("a"), lease -> response, (names, original, remaining) -> {});

        Arrays.fill(response, (byte) 0);
        for (int i = 0; i < 2; i++) {
            byte[] replayed = store.execute(request("a"), lease -> new byte[0], (names, original, remaining) -> {})
                    .response();
            assertThat(replayed).isEqualTo(stored);
            Arrays.fill(replayed, (byte) 0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("S12: a response that can't be encoded")
    void execute_responseCannotBeEncoded_everyCallIsToldAndTheActionRunsOnce(boolean error) {
        Codec<String> broken = Codec.of(
                text -> {
                    if (error) {
                        throw new StackOverflowError();
                    }
                    throw new IllegalStateException("no form");
                },
                bytes -> "");
        LeasedStore<String> store = new LeasedStore<>(bench.leases, broken, LeaseOptions.defaults(), bench.time);
        AtomicInteger runs = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() ->
                            store.execute(request("a"), lease -> "run " + runs.incrementAndGet(), bench.publication))
                    .isInstanceOf(ResponseUnavailableException.class);
        }
        assertThat(runs).hasValue(1);
        assertThat(bench.published).isEmpty();
    }

    @Test
    @DisplayName("S12: what can't be decoded is an error, never a reason to run again")
    void execute_recordCannotBeDecoded_isUnreadableAndNothingRuns() {
        bench.answer(request("a"), "first");
        bench.published.clear();
        Codec<String> other = Codec.of(text -> new byte[0], bytes -> {
            throw new IllegalStateException("not mine");
        });
        LeasedStore<String> store = new LeasedStore<>(bench.leases, other, LeaseOptions.defaults(), bench.time);
        AtomicInteger runs = new AtomicInteger();
        assertThatThrownBy(
                        () -> store.execute(request("a"), lease -> "run " + runs.incrementAndGet(), bench.publication))
                .isInstanceOf(UnreadableRecordException.class);
        assertThat(runs).hasValue(0);
        assertThat(bench.published).isEmpty();
    }

    @Test
    @DisplayName("K-3: once complete")
    void execute_otherFingerprintOfACompleteRecord_isAMismatchAndAddsNoName() {
        bench.answer(request("a").fingerprint(ONE), "first");

        assertThat(bench.answer(request("new", "a").fingerprint(OTHER), "second"))
                .isEqualTo(new Mismatch<>(key("a")));
        assertThat(bench.answer(request("new"), "third")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("K-3: while in progress")
    void execute_otherFingerprintOfARecordInProgress_isAMismatchAtOnce() {
        bench.holder(request("a").fingerprint(ONE));
        long before = bench.time.now();

        Outcome<String> outcome = bench.store(LeaseOptions.defaults().waitAtMost(Duration.ofMinutes(1)))
                .execute(request("a").fingerprint(OTHER), lease -> "second", bench.publication);

        assertThat(outcome).isEqualTo(new Mismatch<>(key("a")));
        assertThat(bench.time.now()).isEqualTo(before);
    }

    @Test
    @DisplayName("S8: one known and one new name")
    void execute_knownAndNewName_newNameAloneReplaysLater() {
        bench.answer(request("m1", "b1"), "first");

        assertThat(bench.answer(request("m3", "b1"), "second"))
                .isEqualTo(new Replayed<>("first", key("b1"), Source.STORE));
        assertThat(bench.published.get(1).names()).containsExactly(key("m3"), key("b1"));
        assertThat(bench.answer(request("m3"), "third")).isEqualTo(new Replayed<>("first", key("m3"), Source.STORE));
    }

    @Test
    @DisplayName("S8: an added name expires with its record")
    void execute_addedName_expiresWithItsRecord() {
        bench.answer(request("a"), "first");
        bench.time.advance(Bench.RETENTION.minus(Bench.TICK));
        bench.answer(request("new", "a"), "second");
        bench.time.advance(Bench.TICK);

        assertThat(bench.answer(request("new"), "third")).isEqualTo(new Executed<>("third"));
    }

    @Test
    @DisplayName("S8: a record in progress gets no name")
    void execute_knownInProgressAndNewName_isRefusedAndAddsNoName() {
        bench.holder(request("a"));

        assertThat(bench.answer(request("new", "a"), "second")).isEqualTo(new InProgress<>(key("a"), Bench.LEASE));
        assertThat(bench.answer(request("new"), "third")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S8, J-8: keys of different records")
    void execute_keysOfTwoRecords_isAConflictNamingBothAndAddsNoName() {
        bench.answer(request("m1", "b1"), "first");
        bench.answer(request("m2", "b2"), "second");

        assertThat(bench.answer(request("new", "b2", "m1"), "third"))
                .isEqualTo(new Conflict<>(List.of(key("b2"), key("m1"))));
        assertThat(bench.answer(request("new"), "fourth")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S8: conflict goes before in progress")
    void execute_completeRecordAndOneInProgress_isAConflict() {
        bench.answer(request("a"), "first");
        bench.holder(request("b"));
        assertThat(bench.answer(request("a", "b"), "second")).isInstanceOf(Conflict.class);
    }

    @Test
    void execute_fromInsideTheActionOfTheSameKey_isRefusedAsInProgress() {
        LeasedStore<String> store = bench.store();
        Outcome<String> outcome = store.execute(
                request("a"),
                lease -> store.execute(request("a"), inner -> "inner", bench.publication)
                                .toString()
                        + " inside",
                bench.publication);
        assertThat(outcome.response()).startsWith("InProgress");
    }

    private void fail(LeaseOptions options, boolean afterTheEffect) throws IOException {
        bench.store(options)
                .execute(
                        request("a"),
                        lease -> {
                            if (afterTheEffect) {
                                lease.effectStarts();
                            }
                            throw new IOException("no route");
                        },
                        bench.publication);
    }

    @SuppressWarnings("NullAway") // That an action may return null is what is tested.
    private static String nothing(AtomicInteger runs) {
        runs.incrementAndGet();
        @Nullable String none = null;
        return none;
    }
}
