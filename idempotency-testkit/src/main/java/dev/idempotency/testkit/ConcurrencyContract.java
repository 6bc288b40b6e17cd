package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static dev.idempotency.testkit.Sender.effect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Many calls at once, at two servers. A call that is refused as in progress, or told to try again, is sent again until
 * it is answered; then all answers must fit together.
 *
 * @param <C> what the store hands to actions
 */
public interface ConcurrencyContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("S1: of 64 threads with one key, one commits, and all get its response")
    default void manyThreadsWithOneKey_oneCommits() throws Exception {
        Sender<C> sender = Sender.to(this);
        allGetOneResponse(List.of(sender, sender));
    }

    @Test
    @DisplayName("S1: of 64 threads with one key at two servers, one commits, and all get its response")
    default void manyThreadsWithOneKeyAtTwoServers_oneCommits() throws Exception {
        allGetOneResponse(List.of(Sender.to(this), Sender.toAnotherServer(this)));
    }

    private void allGetOneResponse(List<Sender<C>> servers) throws Exception {
        Request request = Request.of(message("1"));
        History<C> history = new History<>(this);
        Crowd.run(64, number -> {
            history.addOwn(request, servers.get(number % 2).sendUntilAnswered(request, "from " + number));
            return number;
        });
        assertThat(history.executed()).as("executions").isEqualTo(1);
        history.check();
    }

    @Test
    @DisplayName("S1, S8: pairs of keys that cross, (a,b) and (b,a), end, and one of them commits")
    default void crossingPairsOfKeys_oneCommits() throws Exception {
        List<Sender<C>> servers = List.of(Sender.to(this), Sender.toAnotherServer(this));
        History<C> history = new History<>(this);
        Crowd.run(8, number -> {
            for (int round = 0; round < 10; round++) {
                Request there = Request.of(message("a" + round)).and(business("b" + round));
                Request back = Request.of(business("b" + round)).and(message("a" + round));
                Request request = number % 2 == 0 ? there : back;
                history.addOwn(
                        request,
                        servers.get(number / 2 % 2).sendUntilAnswered(request, "round " + round + " by " + number));
            }
            return number;
        });
        assertThat(history.executed()).as("executions").isEqualTo(10);
        history.check();
    }

    @Test
    @DisplayName("S1, S8: chains of keys, (a,b), (b,c) and (c,d), end, and no key is executed twice")
    default void chainsOfKeys_noKeyIsExecutedTwice() throws Exception {
        List<Sender<C>> servers = List.of(Sender.to(this), Sender.toAnotherServer(this));
        History<C> history = new History<>(this);
        for (int round = 0; round < 20; round++) {
            String of = "" + round;
            List<Request> chain = List.of(
                    Request.of(message("a" + of)).and(business("b" + of)),
                    Request.of(business("b" + of)).and(message("c" + of)),
                    Request.of(message("c" + of)).and(business("d" + of)));
            // All start each round together: who has drifted away from the others meets nobody.
            Crowd.run(6, number -> {
                Request request = chain.get(number % 3);
                history.add(
                        request, servers.get(number / 3).sendUntilAnswered(request, "round " + of + " by " + number));
                return number;
            });
        }
        history.check();
    }

    @Test
    @DisplayName("S2, S14: the first five actions throw; one of those who wait goes next, and exactly one commits")
    default void firstActionsThrow_oneOfTheOthersCommits() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1"));
        History<C> history = new History<>(this);
        AtomicInteger runs = new AtomicInteger();
        List<Boolean> failed = Crowd.run(16, number -> {
            try {
                history.addOwn(request, sender.executeUntilAnswered(request, context -> {
                    if (runs.getAndIncrement() < 5) {
                        throw new IllegalStateException("the action's own");
                    }
                    return effect(this, request, "from " + number).run(context);
                }));
                return false;
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("the action's own");
                return true;
            }
        });
        assertThat(failed)
                .filteredOn(Boolean::booleanValue)
                .as("calls whose action threw")
                .hasSize(5);
        assertThat(history.executed()).as("executions").isEqualTo(1);
        history.check();
    }

    @Test
    @DisplayName("J-3: 50 threads with new neighbouring keys all execute at their first try")
    default void newNeighbouringKeys_allExecuteAtTheFirstTry() throws Exception {
        List<Sender<C>> servers = List.of(Sender.to(this), Sender.toAnotherServer(this));
        Crowd.run(50, number -> {
            for (int i = 0; i < 4; i++) {
                String id = "%05d".formatted(number + 50 * i);
                Request request = Request.of(message(id)).and(business(id));
                assertExecuted(servers.get(number % 2).send(request, id), id);
            }
            return number;
        });
        for (int i = 0; i < 200; i++) {
            assertThat(effects(message("%05d".formatted(i)))).as("effects").isEqualTo(1);
        }
    }

    @Test
    @DisplayName("S1, S2, S8: a storm of few keys, alone and in pairs, with actions that throw, ends in order")
    default void stormOfFewKeys_endsInOrder() throws Exception {
        List<Sender<C>> servers = List.of(Sender.to(this), Sender.toAnotherServer(this));
        History<C> history = new History<>(this);
        Crowd.run(12, number -> {
            Random random = new Random(20_260_101L + number);
            for (int i = 0; i < 40; i++) {
                Request request = anyOf(random);
                String response = number + "." + i;
                boolean fails = random.nextInt(4) == 0;
                try {
                    history.add(request, servers.get(random.nextInt(2)).executeUntilAnswered(request, context -> {
                        if (fails) {
                            throw new IllegalStateException("the action's own");
                        }
                        return effect(this, request, response).run(context);
                    }));
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessage("the action's own");
                    history.addFailed(request);
                }
            }
            return number;
        });
        assertThat(history.executed()).as("executions").isPositive();
        history.check();
    }

    private static Request anyOf(Random random) {
        Request messageOnly = Request.of(message("" + random.nextInt(12)));
        Request businessOnly = Request.of(business("" + random.nextInt(12)));
        return switch (random.nextInt(4)) {
            case 0 -> messageOnly;
            case 1 -> businessOnly;
            case 2 -> messageOnly.and(businessOnly.keys().get(0));
            default -> businessOnly.and(messageOnly.keys().get(0));
        };
    }

    @Test
    @DisplayName("J-14, S14: a thread that waits and is interrupted stops, keeps its flag, and the store stays usable")
    default void interruptedWhileWaiting_stopsWithItsFlagSet() throws Exception {
        Sender<C> sender = Sender.to(this);
        Request request = Request.of(message("1"));
        AtomicBoolean sent = new AtomicBoolean();
        List<Boolean> flag = new ArrayList<>();
        try (HeldCall<C> first = new HeldCall<>(sender, request, "first")) {
            Crowd.Call<Object> waiting = new Crowd.Call<>("waiting", () -> {
                Object answer = answerOrRetryable(sender, request);
                while (!sent.get()) {
                    Thread.onSpinWait();
                }
                flag.add(Thread.interrupted());
                return answer;
            });
            waiting.awaitStuckOrEnded();
            waiting.interrupt();
            sent.set(true);
            // The first call is still held: this one ends by itself, or the test hangs and fails.
            assertThat(waiting.result())
                    .as("answer to the call that was interrupted")
                    .isInstanceOfAny(InProgress.class, RetryableException.class);
            assertThat(flag).as("the thread's interrupt flag").containsExactly(true);
            assertExecuted(first.letGo(), "first");
        }
        assertReplayed(sender.send(request, "again"), "first", message("1"));
        assertThat(sender.send(message("2"), "other")).isInstanceOf(Executed.class);
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    private static Object answerOrRetryable(Sender<?> sender, Request request) throws Exception {
        try {
            Outcome<@Nullable String> outcome = sender.send(request, "waiting");
            return outcome;
        } catch (RetryableException e) {
            return e;
        }
    }
}
