package dev.idempotency.examples.simulation;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message in its sender's outbox. Its ID is made before it is first sent and is the same in every copy.
 *
 * <p>What Ana means to say is counted apart from the messages that say it: a business retry is a second message with the
 * same meaning, and "ok" said twice on purpose is two meanings. Ben ought to see each meaning once.
 */
final class Message {

    final int meaning;
    final boolean retry;
    final int sender;

    /** Counts the messages of this sender's device. */
    final int number;

    final UUID id;
    final String text;
    final @Nullable String businessId;

    /** Virtual time of the first try, in nanoseconds. */
    final long sentAt;

    /** The application that has this message in its outbox is running, and hears acknowledgements. */
    boolean running = true;

    /** Killed once, and started again. */
    boolean restarted;

    boolean acknowledged;
    boolean arrived;
    boolean arrivedAfterRestart;

    Message(
            int meaning,
            boolean retry,
            int sender,
            int number,
            UUID id,
            String text,
            @Nullable String businessId,
            long sentAt) {
        this.meaning = meaning;
        this.retry = retry;
        this.sender = sender;
        this.number = number;
        this.id = id;
        this.text = text;
        this.businessId = businessId;
        this.sentAt = sentAt;
    }
}
