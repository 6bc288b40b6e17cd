package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Asserts how a request was answered, with messages that show the response (outcomes themselves don't print it). */
final class Answers {

    private Answers() {}

    static void assertExecuted(Outcome<@Nullable String> outcome, @Nullable String response) {
        assertThat(outcome instanceof Executed && Objects.equals(outcome.response(), response))
                .as("wanted: Executed with %s; got: %s", abridged(response), told(outcome))
                .isTrue();
    }

    static void assertReplayed(Outcome<@Nullable String> outcome, @Nullable String response, IdempotencyKey matched) {
        assertReplayed(outcome, response, matched, Source.STORE);
    }

    static void assertReplayed(
            Outcome<@Nullable String> outcome, @Nullable String response, IdempotencyKey matched, Source source) {
        assertThat(outcome instanceof Replayed<@Nullable String> replayed
                        && Objects.equals(replayed.response(), response)
                        && replayed.matched().equals(matched)
                        && replayed.source() == source)
                .as(
                        "wanted: Replayed[%s by the %s] with %s; got: %s",
                        matched, source, abridged(response), told(outcome))
                .isTrue();
    }

    static void assertMismatch(Outcome<@Nullable String> outcome, IdempotencyKey key) {
        assertThat(outcome)
                .as("wanted: a mismatch of %s; got: %s", key, told(outcome))
                .isEqualTo(new Mismatch<>(key));
    }

    static void assertConflict(Outcome<@Nullable String> outcome, IdempotencyKey... keys) {
        assertThat(outcome)
                .as("wanted: a conflict of %s; got: %s", List.of(keys), told(outcome))
                .isEqualTo(new Conflict<>(List.of(keys)));
    }

    static void assertInProgress(Outcome<@Nullable String> outcome, IdempotencyKey key) {
        assertThat(outcome)
                .as("wanted: %s is in progress; got: %s", key, told(outcome))
                .isInstanceOfSatisfying(InProgress.class, refused -> {
                    assertThat(refused.key()).isEqualTo(key);
                    assertThat(refused.retryAfter()).as("when to ask again").isPositive();
                });
    }

    /** An outcome with its response, if it has one. */
    static String told(Outcome<@Nullable String> outcome) {
        return outcome instanceof Outcome.Refused
                ? outcome.toString()
                : outcome + " with " + abridged(outcome.response());
    }

    private static String abridged(@Nullable String response) {
        if (response == null) {
            return "null";
        }
        return response.length() <= 40
                ? '"' + response + '"'
                : '"' + response.substring(0, 20) + "…\" of " + response.length() + " chars";
    }
}
