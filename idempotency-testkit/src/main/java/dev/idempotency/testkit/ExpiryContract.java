package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Fingerprint;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Records that grow old. Skipped for a store without a retention.
 *
 * @param <C> what the store hands to actions
 */
public interface ExpiryContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("S11: a record is there until the end of its retention, and what is left of it is told")
    default void recordBeforeItsEnd_isReplayed() throws Exception {
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        sender.send(message("1"), "stored");
        age(message("1"), retention.minusMinutes(2));
        sender.told().forget();
        assertReplayed(sender.send(message("1"), "again"), "stored", message("1"));
        assertThat(sender.told().entries().isEmpty())
                .as("nothing was published")
                .isEqualTo(!publishesReplayed());
        assertThat(sender.told().entries())
                .allSatisfy(published -> assertThat(published.remaining())
                        .as("time that remains")
                        .isNotNull()
                        .isPositive()
                        .isLessThanOrEqualTo(Duration.ofMinutes(2)));
    }

    @Test
    @DisplayName("S11, W-10: an expired record counts as absent, whatever its fingerprint, and the new one is kept")
    default void expiredRecord_countsAsAbsent() throws Exception {
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        sender.send(Request.of(message("1")).fingerprint(Fingerprint.sha256("old")), "old");
        age(message("1"), retention);
        Request request = Request.of(message("1")).fingerprint(Fingerprint.sha256("new"));
        assertExecuted(sender.send(request, "new"), "new");
        assertReplayed(Sender.toAnotherServer(this).send(request, "again"), "new", message("1"));
        assertThat(effects(message("1"))).as("effects").isEqualTo(2);
    }

    @Test
    @DisplayName("S11: a record with two names expires under both")
    default void expiredRecordWithTwoNames_isAbsentUnderBoth() throws Exception {
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        sender.send(Request.of(message("1")).and(business("1")), "old");
        age(message("1"), retention);
        assertExecuted(sender.send(message("1"), "one"), "one");
        assertExecuted(sender.send(business("1"), "two"), "two");
        assertReplayed(sender.send(message("1"), "again"), "one", message("1"));
        assertReplayed(sender.send(business("1"), "again"), "two", business("1"));
    }

    @Test
    @DisplayName("S11: an expired record is taken over under both its names at once")
    default void expiredRecordWithTwoNames_isTakenOverAsOne() throws Exception {
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1")).and(business("1"));
        sender.send(request, "old");
        age(business("1"), retention);
        assertExecuted(sender.send(request, "new"), "new");
        assertReplayed(sender.send(message("1"), "again"), "new", message("1"));
        assertReplayed(sender.send(business("1"), "again"), "new", business("1"));
    }

    @Test
    @DisplayName("S11, S8: a name that was added later expires with its original")
    default void addedName_expiresWithItsOriginal() throws Exception {
        assumeTrue(addsNames(), "S8: this store adds no names");
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        sender.send(Request.of(message("1")).and(business("1")), "old");
        age(message("1"), retention.minusMinutes(2));
        assertReplayed(sender.send(Request.of(message("2")).and(business("1")), "retry"), "old", business("1"));
        age(message("1"), Duration.ofMinutes(2));
        assertExecuted(sender.send(message("2"), "new"), "new");
    }

    @Test
    @DisplayName("S11: an expired record and a new one in one request are no conflict")
    default void expiredRecordBesideALiveOne_isNoConflict() throws Exception {
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        sender.send(message("1"), "old");
        age(message("1"), retention);
        sender.send(business("2"), "live");
        Request both = Request.of(message("1")).and(business("2"));
        assertReplayed(sender.send(both, "retry"), "live", business("2"));
        if (addsNames()) {
            assertReplayed(sender.send(message("1"), "resend"), "live", message("1"));
        }
    }

    @Test
    @DisplayName("S2, S11: an action that throws on an expired record leaves it absent")
    default void actionThrowsOnAnExpiredRecord_leavesItAbsent() throws Exception {
        Duration retention = retentionOrSkip();
        Sender<C> sender = Sender.to(this);
        sender.send(message("1"), "old");
        age(message("1"), retention);
        try {
            sender.execute(Request.of(message("1")), context -> {
                throw new IllegalStateException("the action's own");
            });
        } catch (IllegalStateException expected) {
            assertThat(expected).hasMessage("the action's own");
        }
        assertExecuted(sender.send(message("1"), "new"), "new");
        assertThat(effects(message("1"))).as("effects").isEqualTo(2);
    }

    @Test
    @DisplayName("S11: of 16 threads at two servers that meet an expired record, one executes")
    default void expiredRecordMetByManyThreads_isTakenOverOnce() throws Exception {
        Duration retention = retentionOrSkip();
        List<Sender<C>> servers = List.of(Sender.to(this), Sender.toAnotherServer(this));
        Request request = Request.of(message("1")).and(business("1"));
        servers.get(0).send(request, "old");
        age(message("1"), retention);
        List<Outcome<@Nullable String>> outcomes =
                Crowd.run(16, number -> servers.get(number % 2).sendUntilAnswered(request, "new " + number));
        assertThat(outcomes)
                .filteredOn(Executed.class::isInstance)
                .as("executions")
                .hasSize(1);
        assertThat(outcomes.stream().map(Outcome::response).distinct())
                .as("different responses")
                .hasSize(1);
        assertThat(effects(message("1"))).as("effects").isEqualTo(2);
    }

    private Duration retentionOrSkip() {
        assumeTrue(store().retention() != null, "S11: this store's records do not expire");
        return Objects.requireNonNull(store().retention());
    }
}
