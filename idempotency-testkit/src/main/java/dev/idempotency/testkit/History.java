package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Request;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What many threads were answered, and whether it can be true. Each execution is to have a response of its own, and no
 * request a fingerprint.
 */
final class History<C> {

    private final StoreFixture<C> fixture;
    private final List<Answer> answers = new CopyOnWriteArrayList<>();
    private final Set<IdempotencyKey> givenBack = ConcurrentHashMap.newKeySet();

    private record Answer(Request request, Outcome<@Nullable String> outcome) {}

    History(StoreFixture<C> fixture) {
        this.fixture = fixture;
    }

    void add(Request request, Outcome<@Nullable String> outcome) {
        answers.add(new Answer(request, outcome));
    }

    /** A call whose action failed, and gave its keys back. */
    void addFailed(Request request) {
        givenBack.addAll(request.keys());
    }

    /**
     * The same for a request whose keys no other kind of request has: whoever is told "repeat" must see the effect of the
     * first call at that moment.
     */
    void addOwn(Request request, Outcome<@Nullable String> outcome) throws Exception {
        if (outcome instanceof Replayed) {
            for (IdempotencyKey key : request.keys()) {
                assertThat(fixture.effects(key))
                        .as("effects of %s when a repeat of it was recognised", key)
                        .isEqualTo(1);
            }
        }
        add(request, outcome);
    }

    int executed() {
        return (int) answers.stream()
                .filter(answer -> answer.outcome instanceof Executed)
                .count();
    }

    /** Holds all answers against each other, and against what the store says now that all is quiet. */
    void check() throws Exception {
        Map<IdempotencyKey, Set<@Nullable String>> responses = new HashMap<>();
        Map<IdempotencyKey, Integer> executions = new HashMap<>();
        for (Answer answer : answers) {
            if (answer.outcome instanceof Executed) {
                answer.request.keys().forEach(key -> executions.merge(key, 1, Integer::sum));
            }
            for (IdempotencyKey key : namesGiven(answer)) {
                responses.computeIfAbsent(key, k -> new LinkedHashSet<>()).add(answer.outcome.response());
            }
        }
        Set<@Nullable String> stored = new LinkedHashSet<>();
        answers.stream()
                .filter(answer -> answer.outcome instanceof Executed)
                .forEach(answer -> stored.add(answer.outcome.response()));

        for (Map.Entry<IdempotencyKey, Set<@Nullable String>> entry : responses.entrySet()) {
            IdempotencyKey key = entry.getKey();
            assertThat(entry.getValue()).as("different responses to %s", key).hasSize(1);
            assertThat(stored).as("responses of calls that executed").containsAll(entry.getValue());
            int executed = executions.getOrDefault(key, 0);
            assertThat(executed).as("executions of %s", key).isLessThanOrEqualTo(1);
            assertThat(fixture.effects(key)).as("effects of %s", key).isEqualTo(executed);
            Outcome<@Nullable String> now = Sender.to(fixture).send(key, "lookup");
            Answers.assertReplayed(now, entry.getValue().iterator().next(), key);
        }
        for (Answer answer : answers) {
            if (answer.outcome instanceof Conflict<@Nullable String> conflict) {
                assertThat(answer.request.keys()).containsAll(conflict.keys());
                boolean mayHavePassed =
                        fixture.meetsUnfinished() && conflict.keys().stream().anyMatch(givenBack::contains);
                if (!mayHavePassed) {
                    assertThat(conflict.keys().stream().map(responses::get).distinct())
                            .as("originals of the keys in conflict, %s", conflict.keys())
                            .hasSizeGreaterThan(1);
                }
            } else {
                assertThat(answer.outcome).isInstanceOfAny(Executed.class, Replayed.class);
            }
        }
    }

    private List<IdempotencyKey> namesGiven(Answer answer) {
        if (answer.outcome instanceof Replayed<@Nullable String> replayed && !fixture.addsNames()) {
            return List.of(replayed.matched());
        }
        return answer.outcome instanceof Outcome.Refused ? List.of() : answer.request.keys();
    }
}
