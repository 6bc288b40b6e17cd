package dev.idempotency.store;

import static dev.idempotency.store.Bench.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Leases that are claimed for a whole batch at once. */
class LeasedBatchTest {

    private final Bench bench = new Bench();
    private final AllAtOnce backend = new AllAtOnce(bench.leases);
    private final LeasedStore<String> store = bench.store(backend, LeaseOptions.defaults());
    private final List<Request> requests = List.of(request("a"), request("b"), request("c"));

    private static BatchAction<Lease, String, RuntimeException> answering(Runnable meanwhile) {
        return (lease, fresh) -> {
            meanwhile.run();
            return Map.of(fresh.get(0), "token " + (lease.token() > 0) + ", taken over " + lease.takenOver());
        };
    }

    @Test
    void executeAll_claimsAllBeforeTheFirstActionRuns() {
        List<Integer> heldThen = new ArrayList<>();

        assertThat(store.executeAll(requests, answering(() -> heldThen.add(backend.granted)), bench.publication))
                .hasSize(3)
                .allMatch(Executed.class::isInstance);

        assertThat(heldThen).containsExactly(3, 3, 3);
        assertThat(backend.alone).isZero();
    }

    @Test
    @DisplayName("S10: a lease that has waited for its turn is extended; one that was lost meanwhile is claimed again")
    void executeAll_waitedLease_isExtended() {
        Runnable slow = () -> bench.time.advance(Bench.LEASE.multipliedBy(2).dividedBy(3));

        assertThat(store.executeAll(requests, answering(slow), bench.publication))
                .allMatch(new Executed<>("token true, taken over false")::equals);
        assertThat(backend.extended).isEqualTo(2);
    }

    @Test
    @DisplayName(
            "S4: an extension that is not answered is asked for again, and no failure of the backend comes out raw")
    void executeAll_extensionUnanswered_isAskedAgain() {
        Runnable slow = () -> bench.time.advance(Bench.LEASE.multipliedBy(2).dividedBy(3));
        backend.unansweredExtensions = 1;

        assertThat(store.executeAll(requests, answering(slow), bench.publication))
                .allMatch(Executed.class::isInstance);
        assertThat(backend.extended).isEqualTo(3);

        backend.unansweredExtensions = Integer.MAX_VALUE;
        assertThatThrownBy(
                        () -> store.executeAll(List.of(request("d"), request("e")), answering(slow), bench.publication))
                .isInstanceOf(BatchException.class)
                .hasCauseInstanceOf(OutcomeUnknownException.class);
    }

    @Test
    void executeAll_leaseTakenOverMeanwhile_isReplayed() {
        List<Request> two = requests.subList(0, 2);
        boolean[] done = {false};
        Runnable overrun = () -> {
            if (!done[0]) {
                done[0] = true;
                bench.time.advance(Bench.LEASE.plusSeconds(1));
                assertThat(bench.holder(request("b")).complete("somebody else's"))
                        .isTrue();
            }
        };

        assertThat(store.executeAll(two, answering(overrun), bench.publication).get(1))
                .isEqualTo(new Replayed<>("somebody else's", Bench.key("b"), Source.STORE));
    }

    @Test
    @DisplayName("S2: an action that fails gives the leases back whose turn does not come, and the rest is told")
    void executeAll_actionFails_givesRestBack() {
        IllegalStateException failure = new IllegalStateException("action");

        assertThatThrownBy(() -> store.executeAll(
                        requests,
                        (lease, fresh) -> {
                            if (fresh.contains(request("b"))) {
                                throw failure;
                            }
                            return Map.of(fresh.get(0), "ok");
                        },
                        bench.publication))
                .isInstanceOfSatisfying(
                        BatchException.class,
                        partly -> assertThat(partly.outcomes()).containsExactly(new Executed<>("ok"), null, null))
                .hasCause(failure);

        assertThat(bench.answer(request("b"), "again")).isEqualTo(new Executed<>("again"));
        assertThat(bench.answer(request("c"), "again")).isEqualTo(new Executed<>("again"));
    }

    @Test
    @DisplayName("S4: claims that were not answered are asked for again by their owners")
    void executeAll_replyLost_isAskedAgain() {
        backend.losesReply = true;

        assertThat(store.executeAll(requests, answering(() -> {}), bench.publication))
                .allMatch(Executed.class::isInstance);

        assertThat(backend.alone).isEqualTo(3);
    }

    /** Claims all that it is asked for in one step. */
    private static final class AllAtOnce implements LeaseBackend {

        private final LeaseBackend leases;
        int granted;
        int alone;
        int extended;
        boolean losesReply;
        int unansweredExtensions;

        AllAtOnce(LeaseBackend leases) {
            this.leases = leases;
        }

        @Override
        public List<@Nullable Claim> claimAll(List<Asked> asked, Duration lease, Duration retention) {
            List<@Nullable Claim> claims = new ArrayList<>();
            for (Asked each : asked) {
                Claim claim = leases.claim(each.request(), each.owner(), lease, retention);
                granted += claim instanceof Claim.Granted ? 1 : 0;
                claims.add(losesReply ? null : claim);
            }
            return claims;
        }

        @Override
        public Claim claim(Request request, UUID owner, Duration lease, Duration retention) {
            alone++;
            return leases.claim(request, owner, lease, retention);
        }

        @Override
        public boolean complete(Request request, UUID owner, long token, byte[] payload, Duration retention) {
            return leases.complete(request, owner, token, payload, retention);
        }

        @Override
        public boolean release(Request request, UUID owner, long token) {
            return leases.release(request, owner, token);
        }

        @Override
        public boolean extend(Request request, UUID owner, long token, Duration by) {
            extended++;
            if (unansweredExtensions > 0) {
                unansweredExtensions--;
                throw new IllegalStateException("no answer");
            }
            return leases.extend(request, owner, token, by);
        }
    }
}
