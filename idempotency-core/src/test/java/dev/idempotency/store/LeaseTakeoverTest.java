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
import dev.idempotency.LeaseLostException;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.store.Bench.Holder;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What happens when a lease ends before its action does. */
class LeaseTakeoverTest {

    private static final Fingerprint ONE = Fingerprint.sha256("one");
    private static final Fingerprint OTHER = Fingerprint.sha256("other");

    private final Bench bench = new Bench();

    @Test
    @DisplayName("L-3")
    void claim_refusedThreeTimes_holdersRecordIsUntouched() {
        Holder a = bench.holder(request("k").fingerprint(ONE));

        assertThat(bench.answer(request("k").fingerprint(ONE), "b")).isInstanceOf(InProgress.class);
        assertThat(bench.answer(request("k").fingerprint(OTHER), "c")).isInstanceOf(Mismatch.class);
        assertThat(bench.answer(request("k"), "d")).isEqualTo(new InProgress<>(key("k"), LEASE));

        assertThat(a.complete("a")).isTrue();
        assertThat(bench.answer(request("k").fingerprint(ONE), "e").response()).isEqualTo("a");
    }

    @Test
    @DisplayName("L-4: complete, release and extend of the late one")
    void holder_takenOver_changesNothingAnyMore() {
        Holder a = bench.holder(request("k"));
        bench.time.advance(LEASE);
        Holder b = bench.holder(request("k"));

        assertThat(a.extend(LEASE)).isFalse();
        assertThat(a.release()).isFalse();
        assertThat(a.complete("a")).isFalse();
        assertThat(bench.answer(request("k"), "c")).isEqualTo(new InProgress<>(key("k"), LEASE));
        assertThat(b.complete("b")).isTrue();
        assertThat(a.release()).isFalse();
        assertThat(a.complete("a")).isFalse();
        assertThat(bench.answer(request("k"), "c").response()).isEqualTo("b");
    }

    @Test
    @DisplayName("L-4: the late one is told, and publishes nothing")
    void execute_takenOverWhileTheActionRan_isToldThatTheLeaseIsLost() {
        AtomicReference<Outcome<String>> other = new AtomicReference<>();

        assertThatThrownBy(() -> bench.store()
                        .execute(
                                request("k"),
                                lease -> {
                                    bench.time.advance(LEASE);
                                    other.set(bench.answer(request("k"), "b"));
                                    return "a";
                                },
                                bench.publication))
                .isInstanceOf(LeaseLostException.class);

        assertThat(other.get()).isEqualTo(new Executed<>("b"));
        assertThat(bench.published)
                .singleElement()
                .satisfies(
                        published -> assertThat(published.original().response()).isEqualTo("b"));
        assertThat(bench.answer(request("k"), "c").response()).isEqualTo("b");
    }

    @Test
    @DisplayName("L-4: a late failure releases nothing")
    void execute_takenOverAndFailed_otherRecordIsIntactAndTheLossIsSuppressed() {
        List<Holder> b = new ArrayList<>();
        assertThatThrownBy(() -> bench.store()
                        .execute(
                                request("k"),
                                lease -> {
                                    bench.time.advance(LEASE);
                                    b.add(bench.holder(request("k")));
                                    throw new IllegalStateException("late");
                                },
                                bench.publication))
                .isInstanceOf(IllegalStateException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(LeaseLostException.class));
        assertThat(bench.answer(request("k"), "c")).isInstanceOf(InProgress.class);
        assertThat(b.get(0).complete("b")).isTrue();
    }

    @Test
    @DisplayName("L-4: overran, but nobody came")
    void execute_overranAndNotTakenOver_completesAllTheSame() {
        Outcome<String> outcome = bench.store()
                .execute(
                        request("k"),
                        lease -> {
                            bench.time.advance(LEASE.multipliedBy(2));
                            return "a";
                        },
                        bench.publication);
        assertThat(outcome).isEqualTo(new Executed<>("a"));
        assertThat(bench.answer(request("k"), "b").response()).isEqualTo("a");
    }

    @Test
    @DisplayName("L-7: the store's clock decides, not the callers'")
    void claim_callersClocksApart_noEarlyTakeover() {
        bench.holder(request("k"));
        FakeTime ahead = new FakeTime();
        ahead.advance(Duration.ofMinutes(3));
        LeasedStore<String> other = new LeasedStore<>(bench.leases, Codec.utf8(), LeaseOptions.defaults(), ahead);

        assertThat(other.execute(request("k"), lease -> "early", bench.publication))
                .isEqualTo(new InProgress<>(key("k"), LEASE));
        bench.time.advance(LEASE);
        assertThat(other.execute(request("k"), lease -> "due", bench.publication))
                .isEqualTo(new Executed<>("due"));
    }

    @Test
    @DisplayName("L-8")
    void execute_holderDied_isTakenOverAfterTheLeaseAndNotAfterTheRetention() {
        LeaseOptions options = LeaseOptions.defaults().lease(Duration.ofSeconds(5));
        LeasedStore<String> store = bench.store(options);
        bench.leases.claim(request("k"), UUID.randomUUID(), options.lease(), options.retention());

        bench.time.advance(Duration.ofSeconds(4));
        assertThat(store.execute(request("k"), lease -> "retry", bench.publication))
                .isEqualTo(new InProgress<>(key("k"), Duration.ofSeconds(1)));
        bench.time.advance(Duration.ofSeconds(2));
        assertThat(store.execute(request("k"), lease -> "taken over: " + lease.takenOver(), bench.publication)
                        .response())
                .isEqualTo("taken over: true");
    }

    @Test
    @DisplayName("L-9: a late release and a purge")
    void purge_afterOverrunAndLateRelease_recordSurvivesForItsRetention() {
        Holder a = bench.holder(request("k"));
        bench.time.advance(LEASE);
        bench.answer(request("k"), "b");
        assertThat(a.release()).isFalse();

        bench.time.advance(RETENTION.minus(TICK));
        bench.leases.purge();
        assertThat(bench.answer(request("k"), "c").response()).isEqualTo("b");
        bench.time.advance(TICK);
        assertThat(bench.answer(request("k"), "d")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("L-9: a record in progress stays, lapsed or not, until its retention ends; W-10: then it is absent")
    void purge_lapsedRecord_isKeptUntilItsRetentionEnds() {
        bench.holder(request("k").fingerprint(ONE));
        bench.time.advance(RETENTION.minus(TICK));
        bench.leases.purge();
        assertThat(bench.answer(request("k").fingerprint(OTHER), "early")).isInstanceOf(Mismatch.class);

        bench.time.advance(TICK);
        Holder next = bench.holder(request("k").fingerprint(OTHER));
        assertThat(next.granted().takenOver()).isFalse();
    }

    @Test
    @DisplayName("L-10, S10: lapsed means now >= deadline")
    void claim_atTheDeadlineExactly_takesOverAndNotATickBefore() {
        bench.holder(request("k"));
        bench.time.advance(LEASE.minus(TICK));
        assertThat(bench.answer(request("k"), "early")).isEqualTo(new InProgress<>(key("k"), TICK));
        bench.time.advance(TICK);
        assertThat(bench.holder(request("k")).granted().takenOver()).isTrue();
    }

    @Test
    @DisplayName("L-10: lease and retention end at once")
    void claim_leaseAndRetentionEndTogether_recordIsAbsent() {
        bench.leases.claim(request("k").fingerprint(ONE), UUID.randomUUID(), LEASE, LEASE);
        bench.time.advance(LEASE);
        assertThat(bench.holder(request("k").fingerprint(OTHER)).granted().takenOver())
                .isFalse();
    }

    @Test
    @DisplayName("L-13, S11")
    void purge_extendedBeyondTheRetention_liveLeaseIsKept() {
        Holder a = bench.holder(request("k"));
        assertThat(a.extend(RETENTION.plus(LEASE))).isTrue();
        bench.time.advance(RETENTION.plus(LEASE).minus(TICK));
        bench.leases.purge();

        assertThat(bench.answer(request("k"), "early")).isEqualTo(new InProgress<>(key("k"), TICK));
        assertThat(a.complete("a")).isTrue();
    }

    @Test
    void extend_shorterThanWhatRemains_doesNotShorten() {
        Holder a = bench.holder(request("k"));
        assertThat(a.extend(Duration.ofMillis(1))).isTrue();
        assertThat(bench.answer(request("k"), "early")).isEqualTo(new InProgress<>(key("k"), LEASE));
    }

    @Test
    void extend_afterTheEndAndBeforeAnyTakeover_takesTheLeaseUpAgain() {
        Holder a = bench.holder(request("k"));
        bench.time.advance(LEASE.multipliedBy(3));
        assertThat(a.extend(LEASE)).isTrue();
        assertThat(bench.answer(request("k"), "early")).isEqualTo(new InProgress<>(key("k"), LEASE));
    }

    @Test
    @DisplayName("S4, S10: a completed record is nobody's any more")
    void holder_completed_neitherReleasesNorExtendsNorChanges() {
        Holder a = bench.holder(request("k"));
        assertThat(a.complete("a")).isTrue();
        assertThat(a.complete("changed")).isTrue();
        assertThat(a.release()).isFalse();
        assertThat(a.extend(LEASE)).isFalse();
        assertThat(bench.answer(request("k"), "b").response()).isEqualTo("a");
    }

    @Test
    @DisplayName("S4: completing again does not prolong")
    void complete_again_keepsTheFirstRetention() {
        Holder a = bench.holder(request("k"));
        a.complete("a");
        bench.time.advance(RETENTION.minus(TICK));
        assertThat(a.complete("a")).isTrue();
        bench.time.advance(TICK);
        assertThat(a.complete("a")).isFalse();
        assertThat(bench.answer(request("k"), "b")).isInstanceOf(Executed.class);
    }

    @Test
    @DisplayName("S8: a takeover takes all names of the record")
    void claim_byOneOfTwoNamesAndANewOne_takesOverOldNamesToo() {
        Holder a = bench.holder(request("m1", "b1"));
        bench.time.advance(LEASE);
        Holder b = bench.holder(request("m2", "b1"));

        assertThat(b.granted().identity()).isEqualTo(a.granted().identity());
        assertThat(a.complete("a")).isFalse();
        assertThat(bench.answer(request("m1"), "early")).isInstanceOf(InProgress.class);
        assertThat(b.complete("b")).isTrue();
        for (String name : List.of("m1", "m2", "b1")) {
            assertThat(bench.answer(request(name), "late")).isInstanceOf(Replayed.class);
            assertThat(bench.answer(request(name), "late").response()).isEqualTo("b");
        }
    }

    @Test
    @DisplayName(
            "S8, S10: a release after a takeover frees all names, and each who comes next is told of the first holder")
    void release_afterATakeoverByANewName_freesOldNamesToo() {
        bench.holder(request("m1", "b1"));
        bench.time.advance(LEASE);
        assertThat(bench.holder(request("m2", "b1")).release()).isTrue();
        for (String name : List.of("m1", "m2", "b1")) {
            Holder next = bench.holder(request(name));
            assertThat(next.granted().takenOver()).isTrue();
            assertThat(next.release()).isTrue();
            assertThat(next.release()).as("repeated after a lost reply").isTrue();
        }
    }

    @Test
    @DisplayName("S4, S10: an owner repeats its claim after others have taken over: one more takeover, of all names")
    void claim_repeatedAfterOthersTookOver_isATakeoverToo() {
        Holder a = bench.holder(request("m1"));
        bench.time.advance(LEASE);
        assertThat(bench.holder(request("m1", "b1")).release()).isTrue();

        assertThat(bench.leases.claim(a.request(), a.owner(), LEASE, Bench.RETENTION))
                .isInstanceOfSatisfying(LeaseBackend.Claim.Granted.class, again -> {
                    assertThat(again.takenOver()).isTrue();
                    Holder late = new Holder(bench.leases, a.request(), a.owner(), again);
                    assertThat(a.complete("early")).isFalse();
                    assertThat(late.complete("late")).isTrue();
                });
        assertThat(bench.answer(request("b1"), "no").response()).isEqualTo("late");
    }

    @Test
    @DisplayName("S8: a lapsed record together with another one is a conflict")
    void claim_lapsedRecordAndAnotherOne_isAConflictAndChangesNothing() {
        Holder lapsed = bench.holder(request("a"));
        bench.time.advance(LEASE);
        Holder live = bench.holder(request("b"));

        assertThat(bench.answer(request("a", "b"), "c")).isEqualTo(new Conflict<>(List.of(key("a"), key("b"))));
        assertThat(lapsed.complete("a")).isTrue();
        assertThat(live.complete("b")).isTrue();
    }

    @Test
    @DisplayName("K-3: a lapsed record with another fingerprint")
    void claim_lapsedRecordWithAnotherFingerprint_isAMismatchAndChangesNothing() {
        Holder lapsed = bench.holder(request("k").fingerprint(ONE));
        bench.time.advance(LEASE);
        assertThat(bench.answer(request("k").fingerprint(OTHER), "b")).isEqualTo(new Mismatch<>(key("k")));
        assertThat(lapsed.complete("a")).isTrue();
    }

    @Test
    @DisplayName("K-3, W3: what is published and what is stored have the same fingerprint")
    void execute_takeoverWithoutAFingerprint_storesNoneAndPublishesNone() {
        bench.holder(request("k").fingerprint(ONE));
        bench.time.advance(LEASE);
        bench.answer(request("k"), "b");
        assertThat(bench.published.get(0).original().fingerprint()).isNull();
        assertThat(bench.answer(request("k").fingerprint(OTHER), "c").response())
                .isEqualTo("b");
        assertThat(bench.published.get(1).original().fingerprint()).isNull();
    }

    @Test
    @DisplayName("S10: the token only grows")
    void token_acrossReleaseTakeoverAndExpiry_onlyGrows() {
        long last = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now().minusSeconds(60));
        Holder holder = bench.holder(request("k"));
        assertThat(holder.granted().token()).isGreaterThan(last);
        for (int i = 0; i < 20; i++) {
            last = holder.granted().token();
            switch (i % 4) {
                case 0 -> holder.release();
                case 1 -> bench.time.advance(LEASE);
                case 2 -> bench.time.advance(RETENTION);
                default -> {
                    holder.complete("done");
                    bench.time.advance(RETENTION.plusSeconds(10));
                    bench.leases.purge();
                }
            }
            holder = bench.holder(request("k"));
            assertThat(holder.granted().token()).isGreaterThan(last);
        }
    }

    @Test
    @DisplayName("S10: the token is at least the store's clock")
    void token_timePasses_growsAtLeastAsMuch() {
        Holder holder = bench.holder(request("k"));
        long before = holder.granted().token();
        holder.release();
        bench.time.advance(Duration.ofMinutes(1));
        assertThat(bench.holder(request("k")).granted().token() - before).isGreaterThanOrEqualTo(60_000_000);
    }

    @Test
    @DisplayName("S10: owner and token both count")
    void primitives_otherOwnerOrOtherToken_changeNothing() {
        Holder a = bench.holder(request("k"));
        byte[] payload = Payload.unavailable();
        UUID stranger = UUID.randomUUID();
        long token = a.granted().token();

        assertThat(bench.leases.complete(a.request(), stranger, token, payload, RETENTION))
                .isFalse();
        assertThat(bench.leases.release(a.request(), stranger, token)).isFalse();
        assertThat(bench.leases.extend(a.request(), stranger, token, LEASE)).isFalse();
        assertThat(bench.leases.complete(a.request(), a.owner(), token - 1, payload, RETENTION))
                .isFalse();
        assertThat(bench.leases.release(a.request(), a.owner(), token - 1)).isFalse();
        assertThat(bench.leases.extend(a.request(), a.owner(), token - 1, LEASE))
                .isFalse();
        assertThat(a.complete("a")).isTrue();
    }
}
