package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertConflict;
import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertMismatch;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Request;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * A message ID and a business ID in one request: either finds the original.
 *
 * @param <C> what the store hands to actions
 */
public interface TwoLayerContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("S8: a resend and a business retry with a new message ID both get the first response")
    default void resendAndBusinessRetry_getTheFirstResponse() throws Exception {
        Sender<C> sender = Sender.to(this);
        assertExecuted(sender.send(request("m1", "b1"), "first"), "first");
        assertReplayed(sender.send(request("m1", "b1"), "resend"), "first", message("m1"));
        assertReplayed(sender.send(request("m2", "b1"), "business retry"), "first", business("b1"));
        assertReplayed(sender.send(message("m1"), "resend, one layer only"), "first", message("m1"));
        assertReplayed(sender.send(business("b1"), "retry, one layer only"), "first", business("b1"));
        assertThat(effects(message("m1"))).as("effects of m1").isEqualTo(1);
        assertThat(effects(business("b1"))).as("effects of b1").isEqualTo(1);
        assertThat(effects(message("m2"))).as("effects of m2").isZero();
    }

    @Test
    @DisplayName("J-8, S8: keys of two originals are a conflict that names both; the store never picks one")
    default void keysOfTwoOriginals_areAConflict() throws Exception {
        Sender<C> sender = Sender.to(this);
        sender.send(request("m1", "b1"), "one");
        sender.send(request("m2", "b2"), "two");
        assertConflict(sender.send(request("m1", "b2"), "mixed"), message("m1"), business("b2"));
        Request turned = Request.of(business("b2")).and(message("m1"));
        assertConflict(Sender.toAnotherServer(this).send(turned, "mixed"), business("b2"), message("m1"));
        assertReplayed(sender.send(request("m1", "b1"), "again"), "one", message("m1"));
        assertReplayed(sender.send(request("m2", "b2"), "again"), "two", message("m2"));
        assertThat(effects(message("m1"))).as("effects of m1").isEqualTo(1);
        assertThat(effects(business("b2"))).as("effects of b2").isEqualTo(1);
    }

    @Test
    @DisplayName("J-8, S8: a new message ID with a known business ID becomes one more name of that original")
    default void newKeyBesideAKnownOne_becomesOneMoreName() throws Exception {
        assumeTrue(addsNames(), "S8: this store adds no names");
        Sender<C> sender = Sender.to(this);
        IdempotencyKey order = IdempotencyKey.of(NAMESPACES.get(2), "ana", "o1");
        sender.send(request("m1", "b1"), "one");
        sender.send(request("m2", "b2"), "two");
        assertReplayed(sender.send(request("m3", "b1"), "retry"), "one", business("b1"));
        assertReplayed(Sender.toAnotherServer(this).send(message("m3"), "resend"), "one", message("m3"));
        // Names of names are names of the original as well.
        assertReplayed(sender.send(Request.of(order).and(message("m3")), "retry"), "one", message("m3"));
        assertReplayed(sender.send(order, "resend"), "one", order);
        assertConflict(sender.send(Request.of(order).and(business("b2")), "mixed"), order, business("b2"));
        assertThat(effects(message("m3"))).as("effects of m3").isZero();
        assertThat(effects(business("b1"))).as("effects of b1").isEqualTo(1);
    }

    @Test
    @DisplayName("J-9: two messages without a business ID both execute")
    default void businessIdAbsentInTwoMessages_bothExecute() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request first = Request.of(message("m1")).andIfPresent(Optional.empty());
        Request second = Request.of(message("m2")).andIfPresent(Optional.empty());
        assertExecuted(sender.send(first, "one"), "one");
        assertExecuted(sender.send(second, "two"), "two");
        assertReplayed(sender.send(first, "again"), "one", message("m1"));
        assertReplayed(sender.send(second, "again"), "two", message("m2"));
    }

    @Test
    @DisplayName("S8: a conflict records no name")
    default void conflict_recordsNoName() throws Exception {
        Sender<C> sender = Sender.to(this);
        IdempotencyKey order = IdempotencyKey.of(NAMESPACES.get(2), "ana", "o1");
        sender.send(message("m1"), "one");
        sender.send(business("b2"), "two");
        assertConflict(
                sender.send(Request.of(order).and(message("m1")).and(business("b2")), "mixed"),
                message("m1"),
                business("b2"));
        assertThat(sender.told().names()).as("names published").doesNotContain(order);
        assertThat(effects(order)).as("effects of o1").isZero();
        assertExecuted(sender.send(order, "three"), "three");
    }

    @Test
    @DisplayName("S8, K-3: a mismatch records no name")
    default void mismatch_recordsNoName() throws Exception {
        assumeTrue(keepsFingerprint(), "K-3: this store keeps no fingerprints");
        Sender<C> sender = Sender.to(this);
        sender.send(request("m1", "b1").fingerprint(Fingerprint.sha256("one")), "one");
        Request changed = request("m2", "b1").fingerprint(Fingerprint.sha256("two"));
        assertMismatch(sender.send(changed, "changed"), business("b1"));
        assertThat(sender.told().names()).as("names published").doesNotContain(message("m2"));
        assertThat(effects(message("m2"))).as("effects of m2").isZero();
        assertExecuted(sender.send(message("m2"), "two"), "two");
    }

    @Test
    @DisplayName("K-3: a conflict goes before a mismatch")
    default void conflictAndMismatchAtOnce_isAConflict() throws Exception {
        Sender<C> sender = Sender.to(this);
        sender.send(request("m1", "b1").fingerprint(Fingerprint.sha256("one")), "one");
        sender.send(request("m2", "b2").fingerprint(Fingerprint.sha256("two")), "two");
        Request mixed = request("m1", "b2").fingerprint(Fingerprint.sha256("three"));
        assertConflict(sender.send(mixed, "mixed"), message("m1"), business("b2"));
    }

    @Test
    @DisplayName("W1, S8: only names that the store has recorded are published")
    default void newKeyBesideAKnownOne_isPublishedOnlyIfItIsRecorded() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        Sender<C> sender = Sender.to(this);
        sender.send(request("m1", "b1"), "one");
        sender.told().forget();
        sender.send(request("m2", "b1"), "retry");
        assertThat(sender.told().entries())
                .as("what was published")
                .isNotEmpty()
                .allSatisfy(published -> assertThat(published.response()).isEqualTo("one"));
        assertThat(sender.told().names()).as("names published").contains(business("b1"));
        for (IdempotencyKey name : sender.told().names().toList()) {
            assertReplayed(Sender.toAnotherServer(this).send(name, "lookup"), "one", name);
        }
    }

    @Test
    @DisplayName("S2, S8: an action that throws leaves neither of its keys taken")
    default void failedRequestWithTwoKeys_leavesNeitherTaken() throws Exception {
        Sender<C> sender = Sender.to(this);
        try {
            sender.execute(request("m1", "b1"), context -> {
                throw new IllegalStateException("the action's own");
            });
        } catch (IllegalStateException expected) {
            assertThat(expected).hasMessage("the action's own");
        }
        assertExecuted(sender.send(request("m1", "b2"), "one"), "one");
        assertExecuted(sender.send(request("m2", "b1"), "two"), "two");
    }

    private static Request request(String messageId, String businessId) {
        return Request.of(message(messageId)).and(business(businessId));
    }
}
