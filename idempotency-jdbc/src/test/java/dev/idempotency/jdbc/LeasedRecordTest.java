package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.LeaseTable.response;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Request;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases in the library's table, by their rows: what is in progress, over, taken over, released, expired. */
class LeasedRecordTest {

    private final LeaseTable table = new LeaseTable();
    private final Request request = request("m1");
    private final Request both = request("m1").and(businessKey("b1"));
    private final Request other = request("m2").and(businessKey("b1"));

    private static Outcome.Refused<?> refusal(Claim claim) {
        if (claim instanceof Claim.Refused refused) {
            return refused.reason();
        }
        throw new AssertionError("not refused but " + claim);
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
    @DisplayName("L-3, L-14: those who are refused change nothing in any row")
    void refused_changesNothing() {
        Request original = both.fingerprint(Fingerprint.sha256("a"));
        table.hold(original);
        String before = table.rows();

        assertThat(refusal(table.claim(original))).isInstanceOf(InProgress.class);
        assertThat(refusal(table.claim(other.fingerprint(Fingerprint.sha256("b")))))
                .isEqualTo(new Mismatch<>(businessKey("b1")));
        assertThat(refusal(table.claim(other))).isInstanceOf(InProgress.class);

        assertThat(table.rows()).isEqualTo(before);
    }

    @Test
    @DisplayName("L-4, S8: a lapsed record is taken over with all its names; its late holder changes nothing")
    void lapsed_isTakenOverWhole() {
        Holder a = table.hold(both);
        table.pass(LEASE);

        Holder b = table.hold(other.fingerprint(Fingerprint.sha256("b")));

        assertThat(b.granted().takenOver()).isTrue();
        assertThat(b.granted().identity()).isEqualTo(a.granted().identity());
        assertThat(b.granted().token()).isGreaterThan(a.granted().token());
        String before = table.rows();
        assertThat(a.complete("a")).isFalse();
        assertThat(a.extend(LEASE)).isFalse();
        assertThat(a.release()).isFalse();
        assertThat(table.rows()).isEqualTo(before);
        assertThat(refusal(table.claim(request.fingerprint(Fingerprint.sha256("a")))))
                .isEqualTo(new Mismatch<>(messageKey("m1")));

        assertThat(b.extend(Duration.ofHours(1))).isTrue();
        table.pass(Duration.ofMinutes(59));
        for (Request name : List.of(request, request("m2"), Request.of(businessKey("b1")))) {
            assertThat(refusal(table.claim(name))).isInstanceOf(InProgress.class);
        }
        assertThat(b.complete("b")).isTrue();
        assertThat(b.complete("changed")).as("repeated after a lost reply").isTrue();
        for (Request name : List.of(request, request("m2"), Request.of(businessKey("b1")))) {
            assertThat(response(table.claim(name))).isEqualTo("b");
        }
        assertThat(b.release()).as("release of a complete record").isFalse();
        assertThat(b.extend(LEASE)).as("extension of a complete record").isFalse();
    }

    @Test
    @DisplayName(
            "S10, S4: who has taken over ends its lease under all names, and the next one is told of the first one")
    void release_afterTakeover_keepsTheRecordWithItsLeaseEnded() {
        table.hold(both);
        table.pass(LEASE);
        Holder b = table.hold(other);

        assertThat(b.release()).isTrue();
        assertThat(table.count()).isEqualTo(3);
        assertThat(b.release()).as("repeated after a lost reply").isTrue();
        Holder c = table.hold(request);
        assertThat(c.granted().takenOver()).isTrue();
        assertThat(c.granted().token()).isGreaterThan(b.granted().token());
        assertThat(b.release()).as("once somebody has taken over").isFalse();
        assertThat(b.complete("late")).isFalse();
        assertThat(c.complete("c")).isTrue();
        assertThat(response(table.claim(other))).isEqualTo("c");
    }

    @Test
    @DisplayName("S10: a holder that overran its lease completes, releases and extends while nobody took over")
    void overrun_withoutTakeover_isStillItsHolders() {
        Holder completes = table.hold(request("c"));
        Holder extendsIt = table.hold(request("e"));
        Holder releases = table.hold(request("r"));
        table.pass(LEASE.multipliedBy(2));

        assertThat(completes.complete("late")).isTrue();
        assertThat(extendsIt.extend(LEASE)).isTrue();
        assertThat(releases.release()).isTrue();

        assertThat(response(table.claim(request("c")))).isEqualTo("late");
        assertThat(refusal(table.claim(request("e")))).isInstanceOf(InProgress.class);
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
        LeaseRow row = new LeaseRow(UUID.randomUUID(), null, null, UUID.randomUUID(), 1, 100, 200, 100);
        assertThat(row.leaseLasts()).isFalse();
        assertThat(row.isLive()).isTrue();
        LeaseRow later = new LeaseRow(UUID.randomUUID(), null, null, UUID.randomUUID(), 1, 100, 200, 200);
        assertThat(later.isLive()).isFalse();
        LeaseRow before = new LeaseRow(UUID.randomUUID(), null, null, UUID.randomUUID(), 1, 100, 200, 99);
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

    @Test
    @DisplayName("S4: the same owner asks again and gets the same grant")
    void claim_repeatedByItsOwner_isGrantedAgain() {
        Holder a = table.hold(both);
        assertThat(table.leases.claim(both, a.owner(), LEASE, RETENTION)).isEqualTo(a.granted());
        table.pass(LEASE);
        Holder b = table.hold(other);
        assertThat(table.leases.claim(other, b.owner(), LEASE, RETENTION)).isEqualTo(b.granted());
    }

    @Test
    @DisplayName("S8: two records in one request are a conflict, whatever their states, and nothing is changed")
    void conflict_changesNothing() {
        table.hold(request);
        table.pass(LEASE);
        table.hold(Request.of(businessKey("b1"))).complete("done");
        String before = table.rows();

        assertThat(refusal(table.claim(both)))
                .isEqualTo(new Outcome.Conflict<>(List.of(messageKey("m1"), businessKey("b1"))));
        assertThat(table.rows()).isEqualTo(before);
    }

    @Test
    @DisplayName("S8, J-8: a new key beside a complete one becomes a name that stands by itself")
    void newNameBesideComplete_isRecorded() {
        table.hold(both).complete("done");
        Claim claim = table.claim(other);

        assertThat(claim).isInstanceOfSatisfying(Claim.Done.class, done -> {
            assertThat(done.matched()).isEqualTo(businessKey("b1"));
            assertThat(done.names()).isEqualTo(other.keys());
        });
        table.direct.useHandle(handle -> handle.execute(
                "delete from idempotency_record where idempotency_key <> ?",
                messageKey("m2").toBytes()));
        assertThat(response(table.claim(request("m2")))).isEqualTo("done");
    }

    @Test
    @DisplayName("S10: a name that went away in the middle: its holder is told, and does not publish it")
    void nameGone_holderHasLostIt() {
        Holder a = table.hold(both);
        table.direct.useHandle(handle -> handle.execute(
                "delete from idempotency_record where idempotency_key = ?",
                messageKey("m1").toBytes()));

        assertThat(a.complete("a")).isFalse();
    }

    @Test
    @DisplayName("A record of the transactional mode is seen as done, and one without a response as unreadable")
    void transactionalRecords_areDoneOrUnreadable() {
        RecordStore<String> transactional = JdbcStores.transactional(table.jdbi, Codec.utf8());
        transactional.execute(request, handle -> "written", (n, o, r) -> {});

        assertThat(answer(table.store(), request, "no"))
                .isEqualTo(new Replayed<>("written", messageKey("m1"), Outcome.Source.STORE));

        table.update("response = null");
        assertThatThrownBy(() -> answer(table.store(), request, "no")).isInstanceOf(UnreadableRecordException.class);
    }

    @Test
    @DisplayName("S12: a response that the codec can't encode: done, response unavailable, and not run again")
    void responseNotEncodable_isDoneWithoutIt() {
        Codec<String> codec = new Codec<>() {
            @Override
            public byte[] encode(String response) {
                throw new IllegalStateException("not encodable");
            }

            @Override
            public String decode(byte[] bytes) {
                return "";
            }
        };
        var store = JdbcStores.leased(table.jdbi, codec);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> answer(store, request, "ok")).isInstanceOf(ResponseUnavailableException.class);
        }
    }

    @Test
    @DisplayName("S12, K-2: a response of 16 MB comes back whole; an empty one as well")
    void largeAndEmptyResponses_comeBack() {
        String large = "é".repeat(8_500_000);
        assertThat(answer(table.store(), request, large)).isEqualTo(new Executed<>(large));
        assertThat(answer(table.store(), request, "no").response()).isEqualTo(large);
        answer(table.store(), request("empty"), "");
        assertThat(answer(table.store(), request("empty"), "no").response()).isEmpty();
    }

    @Test
    @DisplayName("K-6, R-10: released before the effect, at once and for everybody; kept after it; or as configured")
    void actionFails_releasesAsConfigured() {
        LeaseOptions options = LeaseOptions.defaults().lease(LEASE);
        var kept = table.store(options.releaseIf((failure, started) -> failure instanceof IllegalArgumentException));

        assertThatThrownBy(() -> kept.execute(
                        both, lease -> fail(lease, new IllegalStateException("x"), false), (n, o, r) -> {}))
                .hasMessage("x")
                .hasNoSuppressedExceptions();
        assertThat(answer(table.store(), both, "no")).isInstanceOf(InProgress.class);
        table.pass(LEASE);
        assertThatThrownBy(() -> kept.execute(
                        both, lease -> fail(lease, new IllegalArgumentException("y"), true), (n, o, r) -> {}))
                .hasMessage("y");
        assertThat(answer(table.store(), both, "at last")).isEqualTo(new Executed<>("at last"));
    }

    private static String fail(Lease lease, RuntimeException failure, boolean started) {
        if (started) {
            lease.effectStarts();
        }
        throw failure;
    }

    @Test
    @DisplayName("A table that is not there is told as such, at the start or at the first call")
    void tableMissing_isToldAsSuch() {
        assertThatThrownBy(() -> JdbcStores.leased(
                        table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.VALIDATE))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("elsewhere");
        var unchecked = JdbcStores.leased(table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.NONE);
        assertThatThrownBy(() -> answer(unchecked, request, "no")).isInstanceOf(StoreException.class);
        for (String name : Arrays.asList("", "a b", "a;drop table message")) {
            assertThatThrownBy(() ->
                            JdbcStores.leased(table.jdbi, Codec.utf8(), LeaseOptions.defaults(), name, Schema.NONE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        var created = JdbcStores.leased(table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.CREATE);
        assertThat(answer(created, request, "ok")).isEqualTo(new Executed<>("ok"));
        assertThat(table.count()).isZero();
    }
}
