package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertConflict;
import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertInProgress;
import static dev.idempotency.testkit.Answers.assertMismatch;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * For stores that hand a lease to the action: holders, late holders and those who take over. The store under test is to
 * refuse a duplicate without waiting, to renew no lease by itself, and to release a key whose action fails before its
 * effect starts, and only then.
 */
public interface LeaseContract extends StoreFixture<Lease> {

    /**
     * Makes the lease end that some call has on this key now, as if its holder had been away for too long. The record
     * itself does not expire.
     *
     * @param key a key in progress
     * @throws Exception if it could not be done
     */
    void lapse(IdempotencyKey key) throws Exception;

    @Override
    default boolean meetsUnfinished() {
        return true;
    }

    @Test
    @DisplayName("S10: the first holder gets a token and time, and has taken over from nobody")
    default void firstHolder_hasATokenAndTakesOverFromNobody() throws Exception {
        Lease lease = run(message("1"), held -> {
            assertThat(held.remaining()).as("time that remains").isPositive();
            held.effectStarts();
        });
        assertThat(lease.token()).as("token").isPositive();
        assertThat(lease.takenOver()).as("taken over").isFalse();
    }

    @Test
    @DisplayName("S10: tokens of a key grow from one release to the next, and none of them is a takeover")
    default void tokens_growAcrossReleases() throws Exception {
        List<Long> tokens = new ArrayList<>();
        for (int attempt = 0; attempt < 5; attempt++) {
            Lease lease = fails(message("1"), held -> {});
            tokens.add(lease.token());
            assertThat(lease.takenOver()).as("taken over after a release").isFalse();
        }
        tokens.add(run(message("1"), held -> {}).token());
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("S10, S11: tokens of a key grow across the expiry of its record")
    default void tokens_growAcrossExpiry() throws Exception {
        long first = run(message("1"), held -> {}).token();
        age(message("1"), Objects.requireNonNull(store().retention()));
        Lease next = run(message("1"), held -> {});
        assertThat(next.token()).as("token after %s", first).isGreaterThan(first);
        assertThat(next.takenOver()).as("taken over from a complete record").isFalse();
    }

    @Test
    @DisplayName("S10: extending gives the holder more time")
    default void extend_givesMoreTime() throws Exception {
        run(message("1"), held -> {
            Duration before = held.remaining();
            held.extend(before.multipliedBy(2));
            assertThat(held.remaining()).as("time that remains").isGreaterThan(before);
        });
    }

    @Test
    @DisplayName(
            "L-3, L-14: while A runs, B, C with another fingerprint and D are refused, and A's record is untouched")
    default void othersWhileAHolderRuns_areRefusedAndChangeNothing() throws Exception {
        Sender<Lease> sender = Sender.to(this);
        Request request = Request.of(message("1")).fingerprint(Fingerprint.sha256("payload"));
        Request changed = Request.of(message("1")).fingerprint(Fingerprint.sha256("changed"));
        try (HeldCall<Lease> a = new HeldCall<>(sender, request, "a")) {
            Duration before = a.context().remaining();
            assertInProgress(sender.send(request, "b"), message("1"));
            assertMismatch(sender.send(changed, "c"), message("1"));
            assertInProgress(Sender.toAnotherServer(this).send(message("1"), "d"), message("1"));
            assertThat(a.context().remaining()).as("time that A has left").isLessThanOrEqualTo(before);
            a.context().effectStarts();
            assertExecuted(a.letGo(), "a");
        }
        assertReplayed(sender.send(request, "again"), "a", message("1"));
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("K-3, S8: a conflict goes before in progress, and a new name is not taken by a refused request")
    default void conflictWithARecordInProgress_isAConflict() throws Exception {
        Sender<Lease> sender = Sender.to(this);
        assertExecuted(sender.send(message("1"), "complete"), "complete");
        try (HeldCall<Lease> running = new HeldCall<>(sender, Request.of(business("2")), "running")) {
            assertConflict(
                    sender.send(Request.of(message("1")).and(business("2")), "mixed"), message("1"), business("2"));
            assertInProgress(sender.send(Request.of(message("3")).and(business("2")), "retry"), business("2"));
            assertExecuted(sender.send(message("3"), "free"), "free");
            assertExecuted(running.letGo(), "running");
        }
    }

    @Test
    @DisplayName("K-6: an action that fails before its effect starts releases the key")
    default void failureBeforeTheEffect_releasesTheKey() throws Exception {
        fails(message("1"), held -> {});
        assertExecuted(Sender.toAnotherServer(this).send(message("1"), "at last"), "at last");
    }

    @Test
    @DisplayName(
            "K-6, L-8: after its effect has started the key stays taken until the lease ends, and is taken over then")
    default void failureAfterTheEffect_keepsTheKeyUntilTheLeaseEnds() throws Exception {
        Lease failed = fails(message("1"), Lease::effectStarts);
        Sender<Lease> sender = Sender.to(this);
        assertInProgress(sender.send(message("1"), "too early"), message("1"));
        assertInProgress(Sender.toAnotherServer(this).send(message("1"), "too early"), message("1"));
        assertThat(effects(message("1"))).as("effects").isZero();

        lapse(message("1"));
        Lease next = run(message("1"), held -> {});
        assertThat(next.takenOver()).as("taken over").isTrue();
        assertThat(next.token()).as("token after %s", failed.token()).isGreaterThan(failed.token());
        assertReplayed(sender.send(message("1"), "again"), "done", message("1"));
    }

    @Test
    @DisplayName(
            "S10, K-6: who took over and fails before its effect frees the key at once, and the next is told of the"
                    + " first one")
    default void failureAfterATakeover_isATakeoverForTheNext() throws Exception {
        Lease first = fails(message("1"), Lease::effectStarts);
        lapse(message("1"));
        List<Long> tokens = new ArrayList<>(List.of(first.token()));
        for (int attempt = 0; attempt < 3; attempt++) {
            Lease next = fails(message("1"), held -> {});
            assertThat(next.takenOver()).as("taken over").isTrue();
            tokens.add(next.token());
        }
        Lease last = run(message("1"), held -> {});
        assertThat(last.takenOver()).as("taken over").isTrue();
        tokens.add(last.token());
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertReplayed(Sender.toAnotherServer(this).send(message("1"), "again"), "done", message("1"));
    }

    @Test
    @DisplayName(
            "L-4: A pauses past its lease and B takes over; A cannot extend, start or complete, and B's response stays")
    default void lateHolder_cannotComplete() throws Exception {
        Sender<Lease> late = Sender.to(this);
        try (HeldCall<Lease> a = new HeldCall<>(late, Request.of(message("1")), "a")) {
            lapse(message("1"));
            Sender<Lease> other = Sender.toAnotherServer(this);
            try (HeldCall<Lease> b = new HeldCall<>(other, Request.of(message("1")), "b")) {
                assertThat(b.context().takenOver()).as("B has taken over").isTrue();
                assertThat(b.context().token())
                        .as("B's token")
                        .isGreaterThan(a.context().token());
                assertThatThrownBy(() -> a.context().extend(Duration.ofMinutes(5)))
                        .isInstanceOf(LeaseLostException.class);
                assertThatThrownBy(() -> a.context().effectStarts()).isInstanceOf(LeaseLostException.class);
                assertThatThrownBy(a::letGo).isInstanceOf(LeaseLostException.class);
                assertInProgress(other.send(message("1"), "c"), message("1"));
                assertExecuted(b.letGo(), "b");
            }
            assertReplayed(late.send(message("1"), "again"), "b", message("1"));
            assertThat(late.told().entries())
                    .as("what A's server published")
                    .allSatisfy(published -> assertThat(published.response()).isEqualTo("b"));
        }
    }

    @Test
    @DisplayName("L-4: A pauses past its lease and B takes over; A fails, and does not release B's key")
    default void lateHolder_cannotRelease() throws Exception {
        Sender<Lease> late = Sender.to(this);
        IllegalStateException failure = new IllegalStateException("the action's own");
        try (HeldCall<Lease> a = new HeldCall<>(late, Request.of(message("1")), "a")) {
            lapse(message("1"));
            Sender<Lease> other = Sender.toAnotherServer(this);
            try (HeldCall<Lease> b = new HeldCall<>(other, Request.of(message("1")), "b")) {
                assertThatThrownBy(() -> a.letFail(failure)).isSameAs(failure);
                assertInProgress(other.send(message("1"), "c"), message("1"));
                assertExecuted(b.letGo(), "b");
            }
        }
        assertReplayed(late.send(message("1"), "again"), "b", message("1"));
    }

    @Test
    @DisplayName("L-11: keys that share a stripe in a table of 64 are held independently")
    default void keysOfOneStripe_areIndependent() throws Exception {
        Sender<Lease> sender = Sender.to(this);
        try (HeldCall<Lease> first = new HeldCall<>(sender, Request.of(message("0")), "0");
                HeldCall<Lease> second = new HeldCall<>(sender, Request.of(message("641")), "641")) {
            assertExecuted(second.letGo(), "641");
            assertExecuted(first.letGo(), "0");
        }
    }

    /** Runs an action to its end, and returns the lease that it had. */
    private Lease run(IdempotencyKey key, Consumer<Lease> holder) throws Exception {
        List<Lease> leases = new ArrayList<>();
        Request request = Request.of(key);
        assertExecuted(
                Sender.to(this).execute(request, lease -> {
                    leases.add(lease);
                    holder.accept(lease);
                    performs(lease, request, "done");
                    return "done";
                }),
                "done");
        return leases.get(0);
    }

    /** Runs an action that fails after what the holder does, and returns the lease that it had. */
    private Lease fails(IdempotencyKey key, Consumer<Lease> holder) {
        List<Lease> leases = new ArrayList<>();
        IllegalStateException failure = new IllegalStateException("the action's own");
        assertThatThrownBy(() -> Sender.to(this).execute(Request.of(key), lease -> {
                    leases.add(lease);
                    holder.accept(lease);
                    throw failure;
                }))
                .isSameAs(failure);
        return leases.get(0);
    }
}
