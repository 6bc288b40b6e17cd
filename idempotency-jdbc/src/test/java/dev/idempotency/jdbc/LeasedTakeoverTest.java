package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.LeaseTable.refusal;
import static dev.idempotency.jdbc.LeaseTable.response;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Request;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.LeaseBackend.Claim;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases in the library's table, by their rows: who has a record, who takes it over, and under which names. */
@ParameterizedClass
@EnumSource
class LeasedTakeoverTest {

    @AutoClose
    private final LeaseTable table;

    private final Request request = request("m1");
    private final Request both = request("m1").and(businessKey("b1"));
    private final Request other = request("m2").and(businessKey("b1"));

    LeasedTakeoverTest(TestDatabase database) {
        table = new LeaseTable(database);
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
}
