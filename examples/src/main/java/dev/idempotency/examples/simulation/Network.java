package dev.idempotency.examples.simulation;

import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Senders and the network between them and Ben, as events in virtual time.
 *
 * <ol>
 *   <li>A message is written, gets its ID, and is tried at 0, 1, 3, 7 and 15 s, until an acknowledgement arrives; its
 *       sender gives it up at 31 s.
 *   <li>Each copy and each acknowledgement may be lost, by itself, and takes a time of its own, so that one overtakes
 *       another.
 *   <li>Some senders say "ok" and "ok" again a moment later, and mean it.
 *   <li>Some applications are killed right after the first try, so that they never hear of it, and start an hour later,
 *       with all tries, from the outbox.
 *   <li>Some business systems give up waiting after 10 s and call again: a new message with the same business ID.
 * </ol>
 *
 * <p>Copies come in the order of time. Receivers acknowledge every copy, whatever they think of it, so the copies do not
 * depend on who receives them: one seed gives every mode the same ones. Only what is under way is held in memory.
 */
final class Network implements Iterator<Copy> {

    private static final double SHORTEST_DELAY_SECONDS = 0.02;
    private static final double MEAN_DELAY_SECONDS = 0.1;

    /** There and back takes less than the first pause, so that nobody sends again what was not lost. */
    private static final double LONGEST_DELAY_SECONDS = 0.45;

    private static final double[] TRIES_SECONDS = {0, 1, 3, 7, 15};
    private static final double GIVEN_UP_SECONDS = 31;
    private static final double RESTART_SECONDS = 3_600;
    private static final double BUSINESS_TIMEOUT_SECONDS = 10;

    /** The share of messages that are an "ok" to be said twice, and the share that carry a business ID. */
    private static final double SAID_TWICE = 0.02;

    private static final double NOTICES = 0.1;

    private static final String[] FIRST_TEXTS = {
        "hi Ben", "are you there?", "on my way", "train is late", "see you at six", "bring bread", "and salt", "thanks"
    };

    private final Settings settings;
    private final SplittableRandom random;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private final int[] lastNumber;

    private long now;
    private long order;
    private @Nullable Copy next;

    private int written;
    private long retries;
    private long messagesArrived;
    private long arrivedAgainLate;
    private long givenUp;

    private record Event(long at, long order, Runnable what) {}

    Network(Settings settings) {
        this.settings = settings;
        this.random = new SplittableRandom(settings.seed());
        this.lastNumber = new int[settings.senders()];
        after(0, this::write);
    }

    @Override
    public boolean hasNext() {
        while (next == null && !events.isEmpty()) {
            Event event = events.remove();
            now = event.at();
            event.what().run();
        }
        return next != null;
    }

    @Override
    public Copy next() {
        if (!hasNext() || next == null) {
            throw new NoSuchElementException("all copies have been sent");
        }
        Copy copy = next;
        next = null;
        return copy;
    }

    /** How many messages have been written so far, business retries not counted. */
    int written() {
        return written;
    }

    /** How many business retries there were so far. */
    long retries() {
        return retries;
    }

    /** How many messages have arrived at least once so far, business retries counted. */
    long messagesArrived() {
        return messagesArrived;
    }

    /** How many messages have arrived so far, and once more after the restart of their sender's application. */
    long arrivedAgainLate() {
        return arrivedAgainLate;
    }

    /** How many messages their sender has given up so far: no acknowledgement after the last try. */
    long givenUp() {
        return givenUp;
    }

    private void write() {
        boolean twice = random.nextDouble() < SAID_TWICE && written + 2 <= settings.messages();
        int sender = random.nextInt(settings.senders());
        int meaning = written++;
        if (twice) {
            int again = written++;
            mean(meaning, sender, "ok");
            after(1 + 2 * random.nextDouble(), () -> mean(again, sender, "ok"));
        } else {
            mean(meaning, sender, meaning < FIRST_TEXTS.length ? FIRST_TEXTS[meaning] : "message " + meaning);
        }
        if (written < settings.messages()) {
            double pause = -Math.log(1 - random.nextDouble()) / settings.rate();
            after(pause * (1 + SAID_TWICE), this::write);
        }
    }

    private void mean(int meaning, int sender, String text) {
        double draw = random.nextDouble();
        boolean retried = draw < settings.retried();
        String businessId = draw < Math.max(NOTICES, settings.retried()) ? "notice-" + meaning : null;
        begin(meaning, false, sender, text, businessId);
        if (retried) {
            after(BUSINESS_TIMEOUT_SECONDS, () -> {
                retries++;
                begin(meaning, true, sender, text, businessId);
            });
        }
    }

    private void begin(int meaning, boolean retry, int sender, String text, @Nullable String businessId) {
        UUID id = new UUID(random.nextLong(), random.nextLong());
        Message message = new Message(meaning, retry, sender, ++lastNumber[sender], id, text, businessId, now);
        boolean killed = random.nextDouble() < settings.resent();
        send(message, 0, now);
        if (killed) {
            message.running = false;
            after(RESTART_SECONDS, () -> {
                message.running = true;
                message.restarted = true;
                send(message, 0, now);
            });
        }
    }

    private void send(Message message, int attempt, long began) {
        if (message.acknowledged || !message.running) {
            return;
        }
        if (lost()) {
            next = new Copy(message, attempt, message.restarted, now, false, false, 0);
        } else {
            after(delay(), () -> arrive(message, attempt));
        }
        if (attempt + 1 < TRIES_SECONDS.length) {
            at(began + nanos(TRIES_SECONDS[attempt + 1]), () -> send(message, attempt + 1, began));
        } else {
            at(began + nanos(GIVEN_UP_SECONDS), () -> giveUp(message));
        }
    }

    private void arrive(Message message, int attempt) {
        if (!message.arrived) {
            messagesArrived++;
        } else if (message.restarted && !message.arrivedAfterRestart) {
            arrivedAgainLate++;
        }
        message.arrived = true;
        message.arrivedAfterRestart = message.restarted;
        boolean acknowledged = !lost();
        if (acknowledged) {
            after(delay(), () -> acknowledge(message));
        }
        int server = random.nextInt(settings.servers());
        next = new Copy(message, attempt, message.restarted, now, true, acknowledged, server);
    }

    private static void acknowledge(Message message) {
        if (message.running) {
            message.acknowledged = true;
        }
    }

    private void giveUp(Message message) {
        if (!message.acknowledged) {
            givenUp++;
        }
    }

    private boolean lost() {
        return random.nextDouble() < settings.loss();
    }

    private double delay() {
        double delay = SHORTEST_DELAY_SECONDS - MEAN_DELAY_SECONDS * Math.log(1 - random.nextDouble());
        return Math.min(delay, LONGEST_DELAY_SECONDS);
    }

    private void after(double seconds, Runnable what) {
        at(now + nanos(seconds), what);
    }

    private void at(long time, Runnable what) {
        events.add(new Event(time, order++, what));
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * TimeUnit.SECONDS.toNanos(1));
    }
}
