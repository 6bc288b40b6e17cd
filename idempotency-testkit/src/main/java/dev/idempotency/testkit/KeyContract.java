package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertMismatch;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Keys that look alike, responses of every kind, and fingerprints.
 *
 * @param <C> what the store hands to actions
 */
public interface KeyContract<C> extends StoreFixture<C> {

    @Test
    @DisplayName("K-1, S12: null, empty and false-looking responses are replayed exactly, after one run")
    default void emptyLookingResponse_isReplayedExactly() throws Exception {
        List<@Nullable String> responses = Arrays.asList(null, "", "0", "false", "[]", "null", " ", "\n");
        for (int i = 0; i < responses.size(); i++) {
            String response = responses.get(i);
            IdempotencyKey key = message("response " + i);
            assertExecuted(Sender.to(this).send(key, response), response);
            assertReplayed(Sender.to(this).send(key, "again"), response, key);
            assertReplayed(Sender.toAnotherServer(this).send(key, "again"), response, key);
            assertThat(effects(key)).as("effects of %s", key).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("K-2, S12: a response of 70,000 characters of every length in UTF-8 is replayed exactly")
    default void largeResponse_isReplayedExactly() throws Exception {
        String response = "aé€😀\u0001\"'\\%\r\n".repeat(5_833) + "last";
        assertThat(response).hasSize(70_000);
        assertExecuted(Sender.to(this).send(message("1"), response), response);
        assertReplayed(Sender.to(this).send(message("1"), "again"), response, message("1"));
        assertReplayed(Sender.toAnotherServer(this).send(message("1"), "again"), response, message("1"));
    }

    @Test
    @DisplayName("K-3: the same key with another fingerprint is a mismatch, and changes nothing")
    default void anotherFingerprint_isAMismatch() throws Exception {
        assumeTrue(keepsFingerprint(), "K-3: this store keeps no fingerprints");
        Sender<C> sender = Sender.to(this);
        assertExecuted(sender.send(request("one"), "stored"), "stored");
        assertMismatch(sender.send(request("two"), "changed"), message("1"));
        assertMismatch(Sender.toAnotherServer(this).send(request("two"), "changed"), message("1"));
        assertReplayed(sender.send(request("one"), "again"), "stored", message("1"));
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("K-3: the same key with another fingerprint is a mismatch while the first is still running, too")
    default void anotherFingerprintWhileInProgress_isAMismatch() throws Exception {
        assumeTrue(keepsFingerprint(), "K-3: this store keeps no fingerprints");
        Sender<C> sender = Sender.to(this);
        try (HeldCall<C> first = new HeldCall<>(sender, request("one"), "stored")) {
            Crowd.Call<Outcome<@Nullable String>> changed =
                    new Crowd.Call<>("changed", () -> sender.sendUntilAnswered(request("two"), "changed"));
            changed.awaitStuckOrEnded();
            assertExecuted(first.letGo(), "stored");
            assertMismatch(changed.result(), message("1"));
        }
        assertReplayed(sender.send(request("one"), "again"), "stored", message("1"));
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("K-3: a fingerprint is compared only where both the request and the original have one")
    default void fingerprintOnOneSideOnly_isReplayed() throws Exception {
        Sender<C> sender = Sender.to(this);
        sender.send(request("one"), "with");
        assertReplayed(sender.send(message("1"), "again"), "with", message("1"));
        sender.send(message("2"), "without");
        Request fingerprinted = Request.of(message("2")).fingerprint(Fingerprint.sha256("one"));
        assertReplayed(sender.send(fingerprinted, "again"), "without", message("2"));
    }

    private static Request request(String payload) {
        return Request.of(message("1")).fingerprint(Fingerprint.sha256(payload));
    }

    @Test
    @DisplayName("K-4, J-5, J-7, S13: key parts that cannot be right never reach a store")
    default void keyPartsThatCannotBeRight_areRefusedBeforeAnythingIsTouched() {
        List<String> bad = Arrays.asList(
                null,
                "",
                " ",
                "\t",
                "a\0b",
                "\ud83d",
                "a\ude00",
                "x".repeat(299) + "1",
                "x".repeat(299) + "2",
                "é".repeat(128));
        for (String part : bad) {
            assertThatIllegalArgumentException().as("an ID").isThrownBy(() -> IdempotencyKey.of("im", "ana", part));
            assertThatIllegalArgumentException().as("a scope").isThrownBy(() -> IdempotencyKey.of("im", part, "1"));
            assertThatIllegalArgumentException().as("a name").isThrownBy(() -> IdempotencyKey.of(part, "ana", "1"));
        }
    }

    @Test
    @DisplayName("K-5: the same ID from two senders, and for two operations, names different messages")
    default void sameIdInAnotherScopeOrNamespace_isAnotherMessage() throws Exception {
        assertAllDiffer(List.of(
                IdempotencyKey.of(NAMESPACES.get(0), "ana", "1"),
                IdempotencyKey.of(NAMESPACES.get(0), "ben", "1"),
                IdempotencyKey.of(NAMESPACES.get(1), "ana", "1"),
                IdempotencyKey.of(NAMESPACES.get(3), "ana", "1")));
    }

    @Test
    @DisplayName("J-6, S7: case, accents, emoji and blanks count in an ID")
    default void idsThatLookAlike_areDifferentMessages() throws Exception {
        assertAllDiffer(Keys.LOOK_ALIKE.stream().map(Keys::message).toList());
    }

    @Test
    @DisplayName("J-6, S7: case, accents, emoji and blanks count in a scope")
    default void scopesThatLookAlike_areDifferentMessages() throws Exception {
        assertAllDiffer(Keys.LOOK_ALIKE.stream()
                .map(scope -> IdempotencyKey.of(NAMESPACES.get(0), scope, "1"))
                .toList());
    }

    @Test
    @DisplayName("R-9, S7: no separator makes two keys one")
    default void partsThatJoinAlike_areDifferentMessages() throws Exception {
        String im = NAMESPACES.get(0);
        for (String separator : List.of(":", "/", "|", ",", "-", "_", " ", "\u0001", "\u001f", "::", "}{", "\n")) {
            assertAllDiffer(List.of(
                    IdempotencyKey.of(im, "a" + separator + "b", "c"),
                    IdempotencyKey.of(im, "a", "b" + separator + "c")));
        }
        assertAllDiffer(List.of(
                IdempotencyKey.of(im, "{a}", "b"),
                IdempotencyKey.of(im, "a", "{b}"),
                IdempotencyKey.of(im, "{a", "b}"),
                IdempotencyKey.of(im, "ab", "c"),
                IdempotencyKey.of(im, "a", "bc")));
    }

    @Test
    @DisplayName("J-5, S7: parts of full length are never cut, and differ by their last byte")
    default void partsOfFullLength_areNeverCut() throws Exception {
        String longest = NAMESPACES.get(3);
        String scope = "s".repeat(IdempotencyKey.MAX_SCOPE_BYTES - 1);
        String id = "€".repeat(IdempotencyKey.MAX_ID_BYTES / 3 - 1) + "xy";
        assertAllDiffer(List.of(
                IdempotencyKey.of(longest, scope + "1", id + "1"),
                IdempotencyKey.of(longest, scope + "2", id + "1"),
                IdempotencyKey.of(longest, scope + "1", id + "2"),
                IdempotencyKey.of(longest, scope + "1", id)));
    }

    @Test
    @DisplayName("S8: each of four keys finds the original, in any order")
    default void requestWithFourKeys_isFoundByEach() throws Exception {
        Sender<C> sender = Sender.to(this);
        List<IdempotencyKey> keys = NAMESPACES.stream()
                .map(namespace -> IdempotencyKey.of(namespace, "ana", "1"))
                .toList();
        Request request =
                Request.of(keys.get(2)).and(keys.get(0)).and(keys.get(3)).and(keys.get(1));
        assertExecuted(sender.send(request, "stored"), "stored");
        for (IdempotencyKey key : keys) {
            assertReplayed(sender.send(key, "again"), "stored", key);
            assertThat(effects(key)).as("effects of %s", key).isEqualTo(1);
        }
        Request turned =
                Request.of(keys.get(3)).and(keys.get(2)).and(keys.get(1)).and(keys.get(0));
        assertReplayed(sender.send(turned, "again"), "stored", keys.get(3));
    }

    /** Each key executes although all before it are stored, and each then replays its own response. */
    private void assertAllDiffer(List<IdempotencyKey> keys) throws Exception {
        Sender<C> sender = Sender.to(this);
        for (int i = 0; i < keys.size(); i++) {
            assertExecuted(sender.send(keys.get(i), "response " + i), "response " + i);
        }
        Sender<C> other = Sender.toAnotherServer(this);
        for (int i = 0; i < keys.size(); i++) {
            assertReplayed(other.send(keys.get(i), "again"), "response " + i, keys.get(i));
            assertThat(effects(keys.get(i))).as("effects of %s", keys.get(i)).isEqualTo(1);
        }
    }
}
