package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static dev.idempotency.testkit.Sender.effect;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.IdempotencyException;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * For stores whose actions write in the store's own transaction: what the action writes and the record commit together
 * or not at all.
 *
 * @param <C> what the store hands to actions
 */
public interface TransactionContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("S2: an unchecked exception after the effect undoes the effect, and the next call executes")
    default void actionThrowsUncheckedAfterItsEffect_theEffectIsUndone() throws Exception {
        throwsAfterItsEffect(new IllegalStateException("the action's own"));
    }

    @Test
    @DisplayName("S2: a checked exception after the effect undoes the effect, and the next call executes")
    default void actionThrowsCheckedAfterItsEffect_theEffectIsUndone() throws Exception {
        throwsAfterItsEffect(new TimeoutException("the action's own"));
    }

    @Test
    @DisplayName("S2: an error after the effect undoes the effect, and the next call executes")
    default void actionThrowsErrorAfterItsEffect_theEffectIsUndone() throws Exception {
        throwsAfterItsEffect(new AssertionError("the action's own"));
    }

    private void throwsAfterItsEffect(Throwable failure) throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1")).and(business("1"));
        Throwable thrown = catchThrowable(() -> sender.execute(request, context -> {
            performs(context, request, "failed");
            if (failure instanceof Error error) {
                throw error;
            }
            throw (Exception) failure;
        }));
        assertThat(thrown).as("what the caller is thrown").isSameAs(failure);
        assertThat(effects(message("1"))).as("effects after the failure").isZero();
        assertThat(sender.told().entries()).as("what was published").isEmpty();
        assertExecuted(sender.send(request, "at last"), "at last");
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W1: an effect is seen by nobody before its commit, and with it by all")
    default void effect_isSeenWithItsCommitOnly() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1"));
        List<Integer> before = new ArrayList<>();
        sender.execute(request, context -> {
            performs(context, request, "stored");
            before.add(effects(message("1")));
            return "stored";
        });
        assertThat(before).as("effects seen by others before the commit").containsExactly(0);
        assertThat(effects(message("1"))).as("effects seen by others after it").isEqualTo(1);
    }

    @Test
    @DisplayName("S1: nothing that the action of a repeat may have written is stored")
    default void whatTheActionOfARepeatWrites_isUndone() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1"));
        Request extra = Request.of(message("extra"));
        assertExecuted(sender.send(request, "stored"), "stored");
        Outcome<@Nullable String> repeat = sender.execute(request, context -> {
            performs(context, extra, "extra");
            performs(context, request, "repeat");
            return "repeat";
        });
        assertReplayed(repeat, "stored", message("1"));
        assertThat(effects(message("extra"))).as("effects of the extra row").isZero();
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("S2, S14: the first five of 16 actions throw after their effect; exactly one effect is left")
    default void firstActionsThrowAfterTheirEffect_oneEffectIsLeft() throws Exception {
        List<Sender<C>> servers = List.of(Sender.to(this), Sender.toAnotherServer(this));
        Request request = Request.of(message("1"));
        History<C> history = new History<>(this);
        AtomicInteger runs = new AtomicInteger();
        Crowd.run(16, number -> {
            try {
                history.addOwn(request, servers.get(number % 2).executeUntilAnswered(request, context -> {
                    performs(context, request, "from " + number);
                    if (runs.getAndIncrement() < 5) {
                        throw new IllegalStateException("the action's own");
                    }
                    return "from " + number;
                }));
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("the action's own");
            }
            return number;
        });
        assertThat(history.executed()).as("executions").isEqualTo(1);
        history.check();
    }

    @Test
    @DisplayName("S6: an inner call is a transaction of its own; it stays when the outer call fails")
    default void outerCallFails_theInnerOneStays() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request outer = Request.of(message("outer"));
        Request inner = Request.of(message("inner"));
        Throwable thrown = catchThrowable(() -> Crowd.within(() -> sender.executeUntilAnswered(outer, context -> {
            performs(context, outer, "outer");
            sender.sendUntilAnswered(inner, "inner");
            throw new IllegalStateException("the outer action's own");
        })));
        assertThat(thrown).hasMessage("the outer action's own");
        assertThat(effects(message("outer"))).as("effects of the outer call").isZero();
        assertThat(effects(message("inner"))).as("effects of the inner call").isEqualTo(1);
        assertReplayed(sender.send(inner, "again"), "inner", message("inner"));
        assertExecuted(sender.send(outer, "at last"), "at last");
    }

    @Test
    @DisplayName("S6: an inner call that fails undoes its own effect, and nothing of the outer call")
    default void innerCallFails_theOuterOneStays() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request outer = Request.of(message("outer"));
        Request inner = Request.of(message("inner"));
        Outcome<@Nullable String> outcome = Crowd.within(() -> sender.executeUntilAnswered(outer, context -> {
            performs(context, outer, "outer");
            assertThat(catchThrowable(() -> sender.executeUntilAnswered(inner, innerContext -> {
                        performs(innerContext, inner, "inner");
                        throw new IllegalStateException("the inner action's own");
                    })))
                    .hasMessage("the inner action's own");
            return "outer";
        }));
        assertExecuted(outcome, "outer");
        assertThat(effects(message("outer"))).as("effects of the outer call").isEqualTo(1);
        assertThat(effects(message("inner"))).as("effects of the inner call").isZero();
        assertExecuted(sender.send(inner, "at last"), "at last");
    }

    @Test
    @DisplayName("J-14: a thread that is interrupted in its action leaves effect and record, or neither")
    default void interruptedInTheAction_leavesEffectAndRecordOrNeither() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1"));
        List<Object> answers = new ArrayList<>();
        Crowd.within(() -> {
            try {
                answers.add(sender.execute(request, context -> {
                    performs(context, request, "interrupted");
                    Thread.currentThread().interrupt();
                    return "interrupted";
                }));
            } catch (IdempotencyException e) {
                answers.add(e);
            }
            return Thread.interrupted();
        });
        int left = effects(message("1"));
        boolean executed = answers.get(0) instanceof Executed;
        if (executed) {
            assertThat(left).as("effects of the call that executed").isEqualTo(1);
        }
        Outcome<@Nullable String> again = sender.send(request, "again");
        assertThat(again.response())
                .as("the response, when %s effects were left and the answer was %s", left, answers.get(0))
                .isEqualTo(left == 1 ? "interrupted" : "again");
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
        Request other = Request.of(message("2"));
        assertExecuted(sender.execute(other, effect(this, other, "other")), "other");
    }
}
