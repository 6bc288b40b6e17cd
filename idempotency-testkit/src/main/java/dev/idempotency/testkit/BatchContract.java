package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertConflict;
import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertMismatch;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.BatchAction;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Many requests in one call: each is answered as it would have been alone, had they come in this order.
 *
 * @param <C> what the store hands to actions
 */
public interface BatchContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("S1: a batch of new requests executes each once, and as a whole again replays each")
    default void batchOfNewRequests_isExecutedThenReplayed() throws Exception {
        List<Request> requests = IntStream.range(0, 12)
                .mapToObj(i -> Request.of(message("m" + i)))
                .toList();

        for (Outcome<@Nullable String> outcome : sent(requests, "first")) {
            assertExecuted(outcome, "first");
        }
        List<Outcome<@Nullable String>> again = sent(requests, "second");

        assertThat(again).hasSameSizeAs(requests);
        for (int i = 0; i < 12; i++) {
            assertReplayed(again.get(i), "first", message("m" + i));
            assertThat(effects(message("m" + i))).as("effects of m" + i).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("S1: what was stored before is replayed in its place, and the rest executes")
    default void someStoredBefore_areReplayedInTheirPlace() throws Exception {
        Sender.toAnotherServer(this).send(message("m1"), "before");

        List<Outcome<@Nullable String>> outcomes =
                sent(List.of(Request.of(message("m0")), Request.of(message("m1")), Request.of(message("m2"))), "now");

        assertExecuted(outcomes.get(0), "now");
        assertReplayed(outcomes.get(1), "before", message("m1"));
        assertExecuted(outcomes.get(2), "now");
        for (String id : List.of("m0", "m1", "m2")) {
            assertThat(effects(message(id))).as("effects of " + id).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("W-7, K-3: duplicates inside a batch are one execution, each by its own fingerprint")
    default void duplicatesInside_areOneExecution() throws Exception {
        Request one = Request.of(message("m1")).fingerprint(Fingerprint.sha256("one"));
        Request other = Request.of(message("m1")).fingerprint(Fingerprint.sha256("other"));

        List<Outcome<@Nullable String>> outcomes = sent(List.of(one, one, other), "first");

        assertExecuted(outcomes.get(0), "first");
        assertReplayed(outcomes.get(1), "first", message("m1"));
        assertMismatchIfKept(outcomes.get(2));
        assertThat(effects(message("m1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("J-8: inside a batch a business retry replays, and keys of two originals are a conflict")
    default void twoLayersInside_findTheirOriginals() throws Exception {
        Request first = Request.of(message("m1")).and(business("b1"));
        Request second = Request.of(message("m2")).and(business("b2"));
        Request retry = Request.of(message("m3")).and(business("b1"));
        Request crossed = Request.of(message("m1")).and(business("b2"));

        List<Outcome<@Nullable String>> outcomes = sent(List.of(first, second, retry, crossed), "first");

        assertExecuted(outcomes.get(0), "first");
        assertExecuted(outcomes.get(1), "first");
        assertReplayed(outcomes.get(2), "first", business("b1"));
        assertConflict(outcomes.get(3), message("m1"), business("b2"));
        for (IdempotencyKey key : List.of(message("m1"), business("b1"), message("m2"), business("b2"))) {
            assertThat(effects(key)).as("effects of " + key).isEqualTo(1);
        }
        assertThat(effects(message("m3"))).as("effects of m3").isZero();
    }

    @Test
    @DisplayName("S12: a null response in a batch comes back as null")
    default void nullResponse_isReplayedAsNull() throws Exception {
        List<Request> requests = List.of(Request.of(message("m1")), Request.of(message("m2")));
        sent(requests, null);

        for (Outcome<@Nullable String> outcome : sent(requests, "second")) {
            assertThat(outcome.response()).isNull();
        }
    }

    private void assertMismatchIfKept(Outcome<@Nullable String> outcome) {
        if (keepsFingerprint()) {
            assertMismatch(outcome, message("m1"));
        }
    }

    private List<Outcome<@Nullable String>> sent(List<Request> requests, @Nullable String response) throws Exception {
        BatchAction<C, @Nullable String, Exception> action = (context, fresh) -> {
            Map<Request, @Nullable String> answers = new LinkedHashMap<>();
            for (Request request : fresh) {
                performs(context, request, response);
                answers.put(request, response);
            }
            return answers;
        };
        return Collections.unmodifiableList(store().executeAll(requests, action, (names, original, remaining) -> {}));
    }
}
