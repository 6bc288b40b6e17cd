package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.LeaseTable.refusal;
import static dev.idempotency.jdbc.LeaseTable.response;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases in the library's table, by their deadlines: what is in progress, over, expired, purged; and tokens that grow. */
@ParameterizedClass
@EnumSource
class LeasedTimeTest {

    @AutoClose
    private final LeaseTable table;

    private final Request request = request("m1");
    private final Request both = request("m1").and(businessKey("b1"));

    LeasedTimeTest(TestDatabase database) {
        table = new LeaseTable(database);
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "0", "-1"})
    @DisplayName("L-1: a lease deadline that is missing or damaged: in progress until the retention ends")
    void deadlineMissing_isInProgressUntilRetentionEnds(String deadline) {
        table.hold(request);
        table.update("lease_until = " + deadline);
        table.pass(RETENTION.minusMinutes(1));

        assertThat(refusal(table.claim(request)))
                .isInstanceOfSatisfying(
                        InProgress.class,
                        refused -> assertThat(refused.retryAfter())
                                .isBetween(Duration.ofSeconds(30), Duration.ofMinutes(1)));

        table.pass(Duration.ofMinutes(1));
        assertThat(table.claim(request))
                .isInstanceOfSatisfying(
                        Claim.Granted.class,
                        granted -> assertThat(granted.takenOver()).isFalse());
    }

    @Test
    @DisplayName("L-2: a lease of zero, below zero or beyond reason is refused when configured")
    void lease_outOfRange_isRefused() {
        for (Duration wrong : List.of(
                Duration.ZERO, Duration.ofSeconds(-1), Duration.ofNanos(999_999), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatThrownBy(() -> LeaseOptions.defaults().lease(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> table.store(
                        LeaseOptions.defaults().lease(Duration.ofHours(2)).retention(Duration.ofHours(1))))
                .isInstanceOf(IllegalArgumentException.class);
        // The longest of both fits into the columns.
        assertThat(answer(
                        table.store(LeaseOptions.defaults()
                                .lease(LeaseOptions.LONGEST)
                                .retention(LeaseOptions.LONGEST)),
                        request,
                        "ok"))
                .isEqualTo(new Executed<>("ok"));
    }

    @Test
    @DisplayName("L-7: a holder whose clock is three minutes behind is not taken over before the row says so")
    void claim_beforeTheDeadlineInTheRow_isRefused() {
        table.hold(request);
        table.pass(LEASE.minusSeconds(30));
        assertThat(refusal(table.claim(request))).isInstanceOf(InProgress.class);
        table.pass(Duration.ofSeconds(30));
        assertThat(table.claim(request)).isInstanceOf(Claim.Granted.class);
    }

    @Test
    @DisplayName("L-8: lease 5 s, retention 24 h, the holder dies, retry at 6 s: takeover")
    void holderDies_retryAfterTheLease_takesOver() {
        var store = table.store(LeaseOptions.defaults().lease(Duration.ofSeconds(5)));
        assertThatThrownBy(() -> store.execute(
                        request,
                        lease -> {
                            lease.effectStarts();
                            throw new IllegalStateException("died");
                        },
                        (n, o, r) -> {}))
                .hasMessage("died");
        assertThat(answer(store, request, "early")).isInstanceOf(InProgress.class);
        table.pass(Duration.ofSeconds(6));

        assertThat(store.execute(request, lease -> "taken over " + lease.takenOver(), (n, o, r) -> {}))
                .isEqualTo(new Executed<>("taken over true"));
    }

    @Test
    @DisplayName("L-9: overrun, a late release that is refused, purge: the record stays as long as retention says")
    void overrunReleaseAndPurge_leaveTheRecordForItsRetention() {
        Holder a = table.hold(request);
        table.pass(LEASE);
        assertThat(table.hold(request).complete("b")).isTrue();
        assertThat(a.release()).isFalse();
        RecordAdmin admin = JdbcStores.admin(table.jdbi);

        assertThat(admin.purge(100)).isZero();
        table.pass(RETENTION.minusSeconds(30));
        assertThat(admin.purge(100)).isZero();
        assertThat(response(table.claim(request))).isEqualTo("b");
        table.pass(Duration.ofSeconds(30));
        assertThat(admin.purge(100)).isEqualTo(1);
    }

    @Test
    @DisplayName("L-10: a lease and a retention are over as soon as now is equal to their deadline")
    void deadlineReached_isOver() {
        RecordRow row = new RecordRow(UUID.randomUUID(), null, null, UUID.randomUUID(), 1, 100, 200, 100);
        assertThat(row.leaseLasts()).isFalse();
        assertThat(row.isLive()).isTrue();
        RecordRow later = new RecordRow(UUID.randomUUID(), null, null, UUID.randomUUID(), 1, 100, 200, 200);
        assertThat(later.isLive()).isFalse();
        RecordRow before = new RecordRow(UUID.randomUUID(), null, null, UUID.randomUUID(), 1, 100, 200, 99);
        assertThat(before.leaseLasts()).isTrue();
        assertThat(before.leaseRemaining()).isEqualTo(Duration.ofNanos(1_000));
    }

    @Test
    @DisplayName("L-13, S11: purge never removes a live lease, also one that was extended beyond its retention")
    void purge_neverRemovesALiveLease() {
        RecordAdmin admin = JdbcStores.admin(table.jdbi);
        Holder a = table.hold(both);
        assertThat(a.extend(RETENTION.plusHours(2))).isTrue();
        table.pass(RETENTION.plusHours(1));
        table.hold(request("m3"));

        assertThat(admin.purge(100)).isZero();
        assertThat(refusal(table.claim(request))).isInstanceOf(InProgress.class);
        assertThat(a.complete("at last")).isTrue();
        assertThat(response(table.claim(Request.of(businessKey("b1"))))).isEqualTo("at last");
    }

    @Test
    @DisplayName("S11: a record in progress whose retention is over counts as absent, and its holder has lost it")
    void expiredInProgress_isAbsent() {
        Holder a = table.hold(both);
        table.pass(RETENTION);

        assertThat(a.complete("late")).isFalse();
        assertThat(a.extend(LEASE)).isFalse();
        Holder b = table.hold(request);
        assertThat(b.granted().takenOver()).isFalse();
        assertThat(b.granted().token()).isGreaterThan(a.granted().token());
        assertThat(a.release()).as("one of its names is somebody else's").isFalse();
        assertThat(b.complete("b")).isTrue();
        assertThat(JdbcStores.admin(table.jdbi).purge(10)).isLessThanOrEqualTo(1);
        assertThat(response(table.claim(request))).isEqualTo("b");
    }

    @Test
    @DisplayName("S10: tokens of a key grow across release, takeover, expiry and purge")
    void tokens_grow() {
        RecordAdmin admin = JdbcStores.admin(table.jdbi);
        Holder first = table.hold(request);
        first.release();
        Holder afterRelease = table.hold(request);
        table.pass(LEASE);
        Holder afterTakeover = table.hold(request);
        table.pass(RETENTION);
        Holder afterExpiry = table.hold(request);
        table.pass(RETENTION);
        assertThat(admin.purge(10)).isEqualTo(1);
        Holder afterPurge = table.hold(request);

        assertThat(List.of(first, afterRelease, afterTakeover, afterExpiry, afterPurge))
                .extracting(holder -> holder.granted().token())
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("S10: a token is at least the clock, and at least the last one of any of the keys + 1")
    void token_isAtLeastTheClockAndTheLastOnePlusOne() {
        Holder clock = table.hold(request);
        assertThat(clock.granted().token()).isGreaterThanOrEqualTo(table.column("created_at", messageKey("m1")));
        // As if the clock had been set back since.
        long far = Long.MAX_VALUE / 2;
        table.update("token = " + far);
        table.pass(LEASE);
        assertThat(table.hold(both).granted().token()).isEqualTo(far + 1);
        table.pass(RETENTION);
        assertThat(table.hold(Request.of(businessKey("b1"))).granted().token()).isEqualTo(far + 2);
        assertThat(table.hold(request("m2")).granted().token())
                .as("of another key")
                .isLessThan(far);
    }
}
