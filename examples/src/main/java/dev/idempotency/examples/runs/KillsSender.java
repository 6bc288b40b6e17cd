package dev.idempotency.examples.runs;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends one key after the other, each until it is acknowledged, to whatever application lives. Now and then it sends one
 * that others are sending too, or have sent long ago.
 */
final class KillsSender implements Runnable {

    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);
    private static final Duration GIVE_UP_AFTER = Duration.ofMinutes(3);

    private final List<KillsSlot> slots;
    private final AtomicLong nextNumber;
    private final KillsLedger ledger;
    private final Duration lease;
    private final BooleanSupplier over;
    private @Nullable KillsSlot slot;
    private @Nullable Socket socket;
    private @Nullable DataInputStream in;
    private @Nullable DataOutputStream out;

    KillsSender(
            List<KillsSlot> slots, AtomicLong nextNumber, KillsLedger ledger, Duration lease, BooleanSupplier over) {
        this.slots = slots;
        this.nextNumber = nextNumber;
        this.ledger = ledger;
        this.lease = lease;
        this.over = over;
    }

    @Override
    public void run() {
        while (!over.getAsBoolean()) {
            sendUntilAcknowledged(number());
        }
        hangUp();
    }

    private long number() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long newest = nextNumber.get();
        int what = random.nextInt(10);
        if (newest > 0 && what == 0) {
            return random.nextLong(newest);
        }
        if (newest > 0 && what < 4) {
            return Math.max(0, newest - 1 - random.nextInt(8));
        }
        return nextNumber.getAndIncrement();
    }

    private void sendUntilAcknowledged(long number) {
        int copy = ThreadLocalRandom.current().nextInt(1_000);
        long start = System.nanoTime();
        long refusedAt = 0;
        int lossesBefore = 0;
        long downBefore = 0;
        while (true) {
            String answer = ask(number, copy);
            if (KillsApp.acknowledges(answer)) {
                ledger.acknowledge(number, answer.substring(1), answer.charAt(0) == KillsApp.EXECUTED);
                if (refusedAt != 0) {
                    ended(refusedAt, lossesBefore, downBefore);
                }
                return;
            }
            switch (answer.charAt(0)) {
                case KillsApp.IN_PROGRESS -> {
                    ledger.counts().add("again InProgress");
                    if (Long.parseLong(answer.substring(1)) > lease.toMillis() + 1_000) {
                        ledger.counts().add("wrong a lease longer than it may be: " + answer.substring(1) + " ms");
                    }
                    if (refusedAt == 0) {
                        refusedAt = System.nanoTime();
                        lossesBefore = ledger.losses();
                        downBefore = ledger.downMillis();
                    }
                }
                case KillsApp.WRONG -> {
                    ledger.counts().add("wrong " + answer.substring(1));
                    return;
                }
                default -> ledger.counts().add("again " + answer.substring(1));
            }
            if (System.nanoTime() - start > GIVE_UP_AFTER.toNanos()) {
                ledger.counts().add("wrong a key that was not acknowledged in " + GIVE_UP_AFTER.toSeconds() + " s");
                return;
            }
            LockSupport.parkNanos(
                    TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(2, 30)));
        }
    }

    /** Each loss meanwhile may have taken one more holder of the lease with it. */
    private void ended(long refusedAt, int lossesBefore, long downBefore) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - refusedAt);
        ledger.inProgressFor(millis);
        long down = ledger.downMillis() - downBefore;
        long most = lease.toMillis() * (1 + ledger.losses() - lossesBefore) + down + Kills.SLACK.toMillis();
        if (millis > most) {
            ledger.counts().add("wrong a lease was stuck");
        }
    }

    /** Asks some application; whatever keeps it from answering is an answer too. */
    private String ask(long number, int copy) {
        try {
            connect();
            DataOutputStream to = out;
            DataInputStream from = in;
            KillsSlot asked = slot;
            if (to == null || from == null || asked == null) {
                return KillsApp.FAILED + "no application";
            }
            to.writeLong(number);
            to.writeInt(copy);
            to.flush();
            String answer = from.readUTF();
            asked.takeovers(from.readLong());
            if (KillsApp.acknowledges(answer)) {
                asked.acknowledged();
            }
            // Another one next time, so that copies of a key meet from several applications.
            if (ThreadLocalRandom.current().nextInt(20) == 0) {
                hangUp();
            }
            return answer;
        } catch (IOException e) {
            hangUp();
            return KillsApp.FAILED + "no answer";
        }
    }

    private void connect() throws IOException {
        if (socket != null) {
            return;
        }
        KillsSlot chosen = slots.get(ThreadLocalRandom.current().nextInt(slots.size()));
        int port = chosen.port();
        if (port == 0) {
            return;
        }
        Socket opened = new Socket(InetAddress.getLoopbackAddress(), port);
        opened.setTcpNoDelay(true);
        opened.setSoTimeout((int) ANSWER_WITHIN.toMillis());
        socket = opened;
        slot = chosen;
        in = new DataInputStream(new BufferedInputStream(opened.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(opened.getOutputStream()));
    }

    private void hangUp() {
        Socket open = socket;
        socket = null;
        slot = null;
        in = null;
        out = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // It is not used again.
            }
        }
    }
}
