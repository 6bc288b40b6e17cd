package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static dev.idempotency.testkit.Sender.effect;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Refused;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * First, repeat and failure; what is published and when; calls inside calls.
 *
 * @param <C> what the store hands to actions
 */
public interface BasicContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("S1: the first call executes, and its effect is there once")
    default void newKey_isExecuted() throws Exception {
        Sender<C> sender = Sender.to(this);
        assertExecuted(sender.send(message("1"), "stored"), "stored");
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W-7: a key sent six times is executed once and replayed five times, not every second time")
    default void keySentSixTimes_isExecutedOnceAndReplayedFiveTimes() throws Exception {
        Sender<C> sender = Sender.to(this);
        assertExecuted(sender.send(message("1"), "0"), "0");
        for (int repeat = 1; repeat <= 5; repeat++) {
            assertReplayed(sender.send(message("1"), "" + repeat), "0", message("1"));
        }
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("S1: what one server has stored, another one replays, and the other way round")
    default void repeatAtAnotherServer_isReplayed() throws Exception {
        Sender<C> one = Sender.to(this);
        Sender<C> other = Sender.toAnotherServer(this);
        assertExecuted(one.send(message("1"), "by one"), "by one");
        assertReplayed(other.send(message("1"), "by the other"), "by one", message("1"));
        assertExecuted(other.send(message("2"), "by the other"), "by the other");
        assertReplayed(one.send(message("2"), "by one"), "by the other", message("2"));
        assertThat(effects(message("1"))).as("effects of the first").isEqualTo(1);
        assertThat(effects(message("2"))).as("effects of the second").isEqualTo(1);
    }

    @Test
    @DisplayName("S2, W-1: an unchecked exception passes unchanged, leaves nothing behind, and the next call executes")
    default void actionThrowsUnchecked_nothingIsLeftAndTheNextExecutes() throws Exception {
        actionThrows(new IllegalStateException("the action's own"));
    }

    @Test
    @DisplayName("S2, W-1: a checked exception passes unchanged, leaves nothing behind, and the next call executes")
    default void actionThrowsChecked_nothingIsLeftAndTheNextExecutes() throws Exception {
        actionThrows(new TimeoutException("the action's own"));
    }

    @Test
    @DisplayName("S2, W-1: an error passes unchanged, leaves nothing behind, and the next call executes")
    default void actionThrowsError_nothingIsLeftAndTheNextExecutes() throws Exception {
        actionThrows(new AssertionError("the action's own"));
    }

    private void actionThrows(Throwable failure) throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1")).and(business("1"));
        for (int attempt = 0; attempt < 2; attempt++) {
            Throwable thrown = catchThrowable(() -> sender.execute(request, context -> {
                if (failure instanceof Error error) {
                    throw error;
                }
                throw (Exception) failure;
            }));
            assertThat(thrown).as("what the caller is thrown").isSameAs(failure);
        }
        assertThat(sender.told().entries()).as("what was published").isEmpty();
        assertThat(effects(message("1"))).as("effects").isZero();

        assertExecuted(Sender.toAnotherServer(this).send(request, "at last"), "at last");
        assertReplayed(sender.send(request, "again"), "at last", message("1"));
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W1: an original is published after its commit, under all its names, with what is left of its time")
    default void executed_isPublishedOnceItIsCommitted() throws Exception {
        assumeTrue(publishesExecuted(), "W1: this store does not publish what it has executed");
        Sender<C> sender = Sender.to(this);
        Fingerprint payload = Fingerprint.sha256("payload");
        Request request = Request.of(message("1")).and(business("1")).fingerprint(payload);
        List<Object> effectsThen = new ArrayList<>();
        sender.execute(request, effect(this, request, "stored"), (names, original, remaining) -> {
            sender.told().committed(names, original, remaining);
            effectsThen.add(seen(message("1")));
        });

        assertThat(effectsThen)
                .as("effects that others see when it is published")
                .containsExactly(1);
        Told.Entry published = sender.told().entries().get(0);
        assertThat(published.names()).containsExactlyInAnyOrder(message("1"), business("1"));
        assertThat(published.response()).isEqualTo("stored");
        if (keepsFingerprint()) {
            assertThat(published.fingerprint()).isEqualTo(payload);
        }
        assertRemains(published);
    }

    @Test
    @DisplayName("W4: an original that was read from the store is published again")
    default void replayed_isPublishedAgain() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        Sender<C> sender = Sender.to(this);
        Fingerprint payload = Fingerprint.sha256("payload");
        Request request = Request.of(message("1")).fingerprint(payload);
        sender.send(request, "stored");
        sender.told().forget();
        sender.send(request, "again");

        assertThat(sender.told().entries())
                .as("what was published")
                .isNotEmpty()
                .allSatisfy(published -> {
                    assertThat(published.names()).containsExactly(message("1"));
                    assertThat(published.response()).isEqualTo("stored");
                    if (keepsFingerprint()) {
                        assertThat(published.fingerprint()).isEqualTo(payload);
                    }
                    assertRemains(published);
                });
    }

    @Test
    @DisplayName("W2: two originals are never published as the same record")
    default void twoOriginals_havePublishedIdentitiesThatDiffer() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        Sender<C> sender = Sender.to(this);
        for (String id : List.of("1", "2", "1", "2")) {
            sender.send(message(id), "the same");
        }
        assertThat(sender.told().entries()).as("what was published").isNotEmpty();
        for (Told.Entry one : sender.told().entries()) {
            for (Told.Entry other : sender.told().entries()) {
                if (!one.names().equals(other.names())) {
                    assertThat(one.identity())
                            .as("identity of %s and of %s", one.names(), other.names())
                            .isNotEqualTo(other.identity());
                }
            }
        }
    }

    @Test
    @DisplayName("S1: a call with another key inside an action finishes, and both are stored")
    default void callWithAnotherKeyInsideAnAction_finishes() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request outer = Request.of(message("outer"));
        Request inner = Request.of(message("inner"));
        List<Outcome<@Nullable String>> answers = new ArrayList<>();
        Outcome<@Nullable String> outcome = Crowd.within(() -> sender.executeUntilAnswered(outer, context -> {
            answers.add(sender.sendUntilAnswered(inner, "inner"));
            return effect(this, outer, "outer").run(context);
        }));

        assertExecuted(outcome, "outer");
        assertThat(answers).as("answers to the inner call").isNotEmpty();
        assertExecuted(answers.get(0), "inner");
        assertReplayed(sender.send(inner, "again"), "inner", message("inner"));
        assertThat(effects(message("outer"))).as("effects of the outer call").isEqualTo(1);
        assertThat(effects(message("inner"))).as("effects of the inner call").isEqualTo(1);
    }

    @Test
    @DisplayName("S1: a call with the same key at the beginning of an action neither hangs nor executes twice")
    default void callWithTheSameKeyAtTheBeginningOfAnAction_doesNotExecuteTwice() throws Exception {
        callWithTheSameKey(true);
    }

    @Test
    @DisplayName("S1: a call with the same key at the end of an action neither hangs nor executes twice")
    default void callWithTheSameKeyAtTheEndOfAnAction_doesNotExecuteTwice() throws Exception {
        callWithTheSameKey(false);
    }

    private void callWithTheSameKey(boolean first) throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1"));
        List<Object> inner = new ArrayList<>();
        Outcome<@Nullable String> outer = Crowd.within(() -> sender.executeUntilAnswered(request, context -> {
            if (first) {
                inner.add(answerOrFailure(sender, request));
            }
            performs(context, request, "outer");
            if (!first) {
                inner.add(answerOrFailure(sender, request));
            }
            return "outer";
        }));

        // A store that joins transactions may let the inner call be first; the outer one gets its response then.
        assertThat(inner)
                .as("answers to the inner call")
                .isNotEmpty()
                .allSatisfy(answer -> assertThat(answer)
                        .satisfiesAnyOf(
                                it -> assertThat(it).isInstanceOf(Refused.class),
                                it -> assertThat(it).isInstanceOf(IdempotencyException.class),
                                it -> assertThat(it)
                                        .isInstanceOfSatisfying(
                                                Outcome.class,
                                                given -> assertThat(given.response())
                                                        .isEqualTo(outer.response()))));
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
        assertReplayed(sender.send(request, "again"), outer.response(), message("1"));
    }

    private Object answerOrFailure(Sender<C> sender, Request request) throws Exception {
        try {
            return sender.send(request, "inner");
        } catch (IdempotencyException e) {
            return e;
        }
    }

    @Test
    @DisplayName("W-3: a call from inside a publication is stored or fails, and is never lost in silence")
    default void callInsideAPublication_isNeverLost() throws Exception {
        assumeTrue(publishesExecuted(), "W1: this store does not publish what it has executed");
        Sender<C> sender = Sender.to(this);
        Request first = Request.of(message("1"));
        Request later = Request.of(message("later"));
        List<Object> answers = new ArrayList<>();
        Outcome<@Nullable String> outcome = Crowd.within(() ->
                sender.execute(first, effect(this, first, "stored"), (names, original, remaining) -> {
                    try {
                        answers.add(sender.send(later, "later"));
                    } catch (Exception e) {
                        answers.add(e);
                    }
                }));

        assertExecuted(outcome, "stored");
        assertThat(answers).as("answers to the call inside").hasSize(1);
        boolean executed = answers.get(0) instanceof Executed;
        assertThat(effects(message("later")))
                .as("effects of the call that got %s", answers.get(0))
                .isEqualTo(executed ? 1 : 0);
        Outcome<@Nullable String> again = sender.send(later, "again");
        assertThat(again.response()).isEqualTo(executed ? "later" : "again");
        assertThat(effects(message("later"))).as("effects").isEqualTo(1);
    }

    private Object seen(IdempotencyKey key) {
        try {
            return effects(key);
        } catch (Exception e) {
            return e;
        }
    }

    private void assertRemains(Told.Entry published) {
        Duration retention = store().retention();
        if (retention == null) {
            assertThat(published.remaining()).as("time that remains").isNull();
        } else {
            assertThat(published.remaining())
                    .as("time that remains")
                    .isNotNull()
                    .isPositive()
                    .isLessThanOrEqualTo(retention);
        }
    }
}
