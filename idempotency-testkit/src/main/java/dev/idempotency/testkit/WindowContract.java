package dev.idempotency.testkit;

import static dev.idempotency.testkit.Answers.assertConflict;
import static dev.idempotency.testkit.Answers.assertExecuted;
import static dev.idempotency.testkit.Answers.assertMismatch;
import static dev.idempotency.testkit.Answers.assertReplayed;
import static dev.idempotency.testkit.Keys.business;
import static dev.idempotency.testkit.Keys.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.Window;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The store behind a window: what it tells the window makes no repeat wrong.
 *
 * @param <C> what the store hands to actions
 */
public interface WindowContract<C> extends StoreFixture<C> {

    /**
     * The window in front of the store, in tests that turn no clock and fill no window up.
     *
     * @param duration for how long an entry stays
     * @return a window in this process; the author of another window gives that one. What was put into it must be there at the
     *     next look
     */
    default Window.Spec window(Duration duration) {
        return CaffeineWindow.lasting(duration);
    }

    @Test
    @DisplayName("W-7: a key sent six times through a window is executed once; at the latest the third hits the window")
    default void keySentSixTimesThroughAWindow_isExecutedOnce() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        Idempotency<C, @Nullable String> sends = sends(window(Duration.ofMinutes(1)));
        Request request = Request.of(message("1"));
        assertExecuted(send(sends, request, "0"), "0");
        assertReplayed(
                send(sends, request, "1"), "0", message("1"), publishesExecuted() ? Source.WINDOW : Source.STORE);
        for (int repeat = 2; repeat <= 5; repeat++) {
            assertReplayed(send(sends, request, "" + repeat), "0", message("1"), Source.WINDOW);
        }
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W-1: a failed first call leaves nothing in the window, and the next one executes")
    default void failedFirstCall_leavesNothingInTheWindow() throws Exception {
        Idempotency<C, @Nullable String> sends = sends(window(Duration.ofMinutes(1)));
        Request request = Request.of(message("1"));
        assertThatThrownBy(() -> sends.execute(request, context -> {
                    throw new IllegalStateException("the action's own");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(sends.window().get(message("1"))).as("entry in the window").isNull();
        assertExecuted(send(sends, request, "at last"), "at last");
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W-5: a window of 20 entries, 200 IDs, all sent again: the store stops each")
    default void windowTooSmall_theStoreStopsTheRepeats() throws Exception {
        Idempotency<C, @Nullable String> sends = sends(
                CaffeineWindow.lasting(Duration.ofMinutes(1)).atMostEntries(20).executor(Runnable::run));
        for (int id = 0; id < 200; id++) {
            assertExecuted(send(sends, Request.of(message("" + id)), "stored " + id), "stored " + id);
        }
        // The newest first: it is the one that a bounded cache may have dropped against all expectation.
        for (int id = 199; id >= 0; id--) {
            Outcome<@Nullable String> again = send(sends, Request.of(message("" + id)), "again");
            assertThat(again).isInstanceOf(Replayed.class);
            assertThat(again.response()).isEqualTo("stored " + id);
            assertThat(effects(message("" + id))).as("effects of %s", id).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("W-6, W4: a window of 2 minutes, a key sent every minute for 5 minutes: one execution")
    default void keySentEveryMinute_isExecutedOnce() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        AtomicLong clock = new AtomicLong();
        Idempotency<C, @Nullable String> sends =
                sends(CaffeineWindow.lasting(Duration.ofMinutes(2)).ticker(clock::get));
        Request request = Request.of(message("1"));
        assertExecuted(send(sends, request, "0"), "0");
        List<Source> sources = new ArrayList<>();
        for (int minute = 1; minute <= 5; minute++) {
            clock.addAndGet(Duration.ofMinutes(1).toNanos());
            Outcome<@Nullable String> again = send(sends, request, "" + minute);
            assertThat(again.response()).as("response after %s minutes", minute).isEqualTo("0");
            assertThat(again).isInstanceOfSatisfying(Replayed.class, replay -> sources.add(replay.source()));
        }
        assertThat(sources).as("who recognised the repeats").contains(Source.WINDOW, Source.STORE);
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W-8: after a restart, with a new window over the same records, a repeat is replayed")
    default void newWindowOverTheSameRecords_replays() throws Exception {
        Window.Spec window = window(Duration.ofMinutes(1));
        Request request = Request.of(message("1"));
        assertExecuted(send(sends(window), request, "before"), "before");
        Idempotency<C, @Nullable String> restarted =
                Idempotency.with(anotherServer()).window(window).build();
        assertReplayed(send(restarted, request, "after"), "before", message("1"), Source.STORE);
        assertReplayed(
                send(restarted, request, "after"),
                "before",
                message("1"),
                publishesReplayed() ? Source.WINDOW : Source.STORE);
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W-9, K-3: another fingerprint is a mismatch at the window as it is at the store")
    default void windowHitWithAnotherFingerprint_isAMismatch() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        assumeTrue(keepsFingerprint(), "W-9: this store keeps no fingerprints");
        Idempotency<C, @Nullable String> sends = sends(window(Duration.ofMinutes(1)));
        Request original = Request.of(message("1")).fingerprint(Fingerprint.sha256("one"));
        Request changed = Request.of(message("1")).fingerprint(Fingerprint.sha256("two"));
        assertExecuted(send(sends, original, "stored"), "stored");
        send(sends, original, "again");
        assertReplayed(send(sends, original, "again"), "stored", message("1"), Source.WINDOW);
        assertMismatch(send(sends, changed, "changed"), message("1"));
        sends.window().clear();
        assertMismatch(send(sends, changed, "changed"), message("1"));
        assertThat(effects(message("1"))).as("effects").isEqualTo(1);
    }

    @Test
    @DisplayName("W-10, W3: the record expires before the window's entry does, and counts as new")
    default void recordExpiresBeforeTheWindowsEntry_countsAsNew() throws Exception {
        assumeTrue(publishesReplayed(), "W1: this store does not publish what it has replayed");
        assumeTrue(store().retention() != null, "W-10: this store's records do not expire");
        Duration retention = Objects.requireNonNull(store().retention());
        AtomicLong clock = new AtomicLong();
        Idempotency<C, @Nullable String> sends =
                sends(CaffeineWindow.lasting(Duration.ofMinutes(5)).ticker(clock::get));
        Request request = Request.of(message("1"));
        Sender.to(this).send(request, "old");
        age(message("1"), retention.minusMinutes(2));
        assertReplayed(send(sends, request, "repeat"), "old", message("1"), Source.STORE);
        assertReplayed(send(sends, request, "repeat"), "old", message("1"), Source.WINDOW);

        age(message("1"), Duration.ofMinutes(2));
        clock.addAndGet(Duration.ofMinutes(2).toNanos());
        assertExecuted(send(sends, request, "new"), "new");
        assertThat(effects(message("1"))).as("effects").isEqualTo(2);
    }

    @Test
    @DisplayName("W2: keys of two records that are both in the window are a conflict")
    default void keysOfTwoRecordsInTheWindow_areAConflict() throws Exception {
        Idempotency<C, @Nullable String> sends = sends(window(Duration.ofMinutes(1)));
        for (String id : List.of("1", "2", "1", "2", "1", "2")) {
            send(sends, Request.of(message(id)).and(business(id)), "the same");
        }
        assertConflict(send(sends, Request.of(message("1")).and(business("2")), "mixed"), message("1"), business("2"));
        assertThat(effects(message("1"))).as("effects of the first").isEqualTo(1);
        assertThat(effects(business("2"))).as("effects of the second").isEqualTo(1);
    }

    @Test
    @DisplayName("W2, S8: a new message ID with a business ID that is in the window is recorded all the same")
    default void newNameOfAnOriginalInTheWindow_isRecorded() throws Exception {
        assumeTrue(addsNames(), "S8: this store adds no names");
        Idempotency<C, @Nullable String> sends = sends(window(Duration.ofMinutes(1)));
        Request first = Request.of(message("1")).and(business("1"));
        assertExecuted(send(sends, first, "first"), "first");
        send(sends, first, "again");
        Outcome<@Nullable String> retry = send(sends, Request.of(message("2")).and(business("1")), "retry");
        assertReplayed(retry, "first", business("1"), Source.STORE);
        assertReplayed(Sender.toAnotherServer(this).send(message("2"), "resend"), "first", message("2"));
    }

    private Idempotency<C, @Nullable String> sends(Window.Spec window) {
        return Idempotency.with(store()).window(window).build();
    }

    private Outcome<@Nullable String> send(
            Idempotency<C, @Nullable String> sends, Request request, @Nullable String response) throws Exception {
        return sends.execute(request, Sender.effect(this, request, response));
    }
}
