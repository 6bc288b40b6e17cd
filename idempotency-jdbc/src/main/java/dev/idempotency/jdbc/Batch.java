package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.store.Judgement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a batch, and what has become of each so far.
 *
 * <ul>
 *   <li>Of requests that share keys, the first is the <em>leader</em>. Leaders share no key, and go to the database together.
 *   <li>One whose keys are all the leader's is a <em>follower</em>, and is answered with what the leader has stored or found,
 *       if that is recorded under all keys of the follower: a table of the user's gets no new names.
 *   <li>Any other one, which brings a new name or touches two leaders, goes alone, after the leaders.
 * </ul>
 */
final class Batch<R extends @Nullable Object> {

    private final List<Request> requests;
    private final List<@Nullable Outcome<R>> outcomes;
    private final Map<Request, Integer> leaders = new LinkedHashMap<>();
    private final Map<Integer, Integer> leaderOf = new HashMap<>();
    private final Map<Integer, Known<R>> known = new HashMap<>();

    /** What a leader has stored or found, and the names that it has. */
    private record Known<R extends @Nullable Object>(Original<R> original, List<IdempotencyKey> names) {}

    Batch(List<Request> requests) {
        this.requests = requests;
        this.outcomes = new ArrayList<>(Collections.nCopies(requests.size(), null));
        Map<IdempotencyKey, Integer> owners = new HashMap<>();
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            List<IdempotencyKey> keys = request.keys();
            Integer only = owners.putIfAbsent(keys.get(0), i);
            boolean alike = true;
            for (IdempotencyKey key : keys.subList(1, keys.size())) {
                alike &= Objects.equals(owners.putIfAbsent(key, i), only);
            }
            if (alike && only == null) {
                leaders.put(request, i);
            } else if (alike && only.equals(leaders.get(requests.get(only)))) {
                leaderOf.put(i, only);
            }
        }
    }

    List<Request> leaders() {
        return List.copyOf(leaders.keySet());
    }

    /** Leaders that have no outcome yet. */
    List<Request> pending() {
        return leaders.entrySet().stream()
                .filter(leader -> outcomes.get(leader.getValue()) == null)
                .map(Map.Entry::getKey)
                .toList();
    }

    void answer(Request leader, Outcome<R> outcome) {
        outcomes.set(position(leader), outcome);
    }

    /** Answers a leader with what followers may be answered with as well, if all their keys are among its names. */
    void answer(Request leader, Outcome<R> outcome, Original<R> original, List<IdempotencyKey> names) {
        int i = position(leader);
        outcomes.set(i, outcome);
        known.put(i, new Known<>(original, names));
    }

    /** Leaves a leader to be executed alone, after the others: what it meets is not to be theirs. */
    void leaveForLater(Request leader) {
        leaders.remove(leader);
    }

    private int position(Request leader) {
        return Objects.requireNonNull(leaders.get(leader));
    }

    /** How to execute a request by itself. */
    @FunctionalInterface
    interface Alone<R extends @Nullable Object, X extends Exception> {
        Outcome<R> execute(Request request) throws X;
    }

    /** Answers all that have no outcome yet, in their order. */
    <X extends Exception> void answerRest(Alone<R, X> alone) throws X {
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) != null) {
                continue;
            }
            Request request = requests.get(i);
            Integer leader = leaderOf.get(i);
            Known<R> its = leader == null ? null : known.get(leader);
            outcomes.set(
                    i,
                    its == null || !its.names.containsAll(request.keys())
                            ? alone.execute(request)
                            : asOf(request, its.original));
        }
    }

    private static <R extends @Nullable Object> Outcome<R> asOf(Request request, Original<R> original) {
        Map<IdempotencyKey, Original<R>> found = new HashMap<>();
        request.keys().forEach(key -> found.put(key, original));
        return Judgement.answer(request, found);
    }

    /** The outcomes, once all are there. */
    List<Outcome<R>> answers() {
        List<Outcome<R>> answers = new ArrayList<>(outcomes.size());
        for (Outcome<R> outcome : outcomes) {
            answers.add(Objects.requireNonNull(outcome));
        }
        return answers;
    }

    List<@Nullable Outcome<R>> outcomes() {
        return outcomes;
    }
}
