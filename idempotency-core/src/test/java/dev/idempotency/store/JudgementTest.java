package dev.idempotency.store;

import static dev.idempotency.store.Bench.key;
import static dev.idempotency.store.Bench.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("S8: what found originals mean")
class JudgementTest {

    private static final Fingerprint ONE = Fingerprint.sha256("one");
    private static final Fingerprint OTHER = Fingerprint.sha256("other");

    @Test
    void refusal_nothingFound_isNone() {
        assertThat(Judgement.refusal(request("a", "b"), Map.of())).isNull();
    }

    @Test
    void answer_oneOfTwoKeysFound_replaysByTheOneThatMatched() {
        assertThat(Judgement.answer(request("a", "b"), Map.of(key("b"), original("1", ONE))))
                .isEqualTo(new Replayed<>("response 1", key("b"), Source.STORE));
    }

    @Test
    void answer_bothKeysOfOneOriginal_replaysByTheFirstInTheRequestsOrder() {
        Map<IdempotencyKey, Original<String>> found =
                Map.of(key("a"), original("1", null), key("b"), original("1", null));
        assertThat(Judgement.answer(request("b", "a"), found))
                .isEqualTo(new Replayed<>("response 1", key("b"), Source.STORE));
    }

    @Test
    void answer_keysOfTwoOriginals_isAConflictNamingBothInTheRequestsOrder() {
        assertThat(Judgement.answer(
                        request("b", "new", "a"), Map.of(key("a"), original("1", null), key("b"), original("2", null))))
                .isEqualTo(new Conflict<>(List.of(key("b"), key("a"))));
    }

    @Test
    void answer_conflictAndMismatchAtOnce_isAConflict() {
        Request request = request("a", "b").fingerprint(OTHER);
        assertThat(Judgement.answer(request, Map.of(key("a"), original("1", ONE), key("b"), original("2", ONE))))
                .isInstanceOf(Conflict.class);
    }

    @Test
    void answer_otherFingerprint_isAMismatchNamingTheKeyThatIsTaken() {
        Request request = request("new", "a").fingerprint(OTHER);
        assertThat(Judgement.answer(request, Map.of(key("a"), original("1", ONE))))
                .isEqualTo(new Mismatch<>(key("a")));
    }

    @Test
    void answer_fingerprintOnOneSideOnly_replays() {
        assertThat(Judgement.answer(request("a"), Map.of(key("a"), original("1", ONE))))
                .isInstanceOf(Replayed.class);
        assertThat(Judgement.answer(request("a").fingerprint(ONE), Map.of(key("a"), original("1", null))))
                .isInstanceOf(Replayed.class);
    }

    @Test
    void answer_originalsOfOtherKeysOnly_isRefusedAsAProgrammingError() {
        assertThatThrownBy(() -> Judgement.answer(request("a"), Map.of(key("b"), original("1", null))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Original<String> original(String identity, @Nullable Fingerprint fingerprint) {
        return new Original<>(identity, "response " + identity, fingerprint);
    }
}
