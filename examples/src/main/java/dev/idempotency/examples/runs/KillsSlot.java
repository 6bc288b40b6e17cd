package dev.idempotency.examples.runs;

import dev.idempotency.testkit.ChildJvm;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A place where an application runs, is killed when it has worked for a while, and is started again, until there are no
 * kills left; then it runs until the slot is ended.
 */
final class KillsSlot {

    private static final Duration LONGEST_LIFE = Duration.ofHours(6);

    private final ServiceSettings settings;
    private final AtomicInteger killsLeft;
    private final KillsLedger ledger;
    private final BooleanSupplier over;
    private final AtomicLong acknowledged = new AtomicLong();
    private final LongAccumulator takeovers = new LongAccumulator(Math::max, 0);
    private final Thread thread = new Thread(this::run, "slot");
    private volatile int port;
    private volatile @Nullable Throwable failure;

    KillsSlot(ServiceSettings settings, AtomicInteger killsLeft, KillsLedger ledger, BooleanSupplier over) {
        this.settings = settings;
        this.killsLeft = killsLeft;
        this.ledger = ledger;
        this.over = over;
        thread.start();
    }

    /** Where the application listens; zero while there is none. */
    int port() {
        return port;
    }

    void acknowledged() {
        acknowledged.incrementAndGet();
    }

    /** How many times the application that answers has taken a lease over. */
    void takeovers(long ofThisApplication) {
        takeovers.accumulate(ofThisApplication);
    }

    /** What went wrong here, if anything did. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    private void run() {
        try {
            while (!over.getAsBoolean()) {
                live();
            }
        } catch (InterruptedException e) {
            // Ended.
        } catch (Throwable e) {
            failure = e;
        }
    }

    private void live() throws InterruptedException {
        try {
            liveOnce();
        } finally {
            port = 0;
            ledger.takeovers(takeovers.getThenReset());
        }
    }

    private void liveOnce() throws InterruptedException {
        try (ChildJvm app = ChildJvm.start(
                KillsApp.class, LONGEST_LIFE, settings.arguments().toArray(String[]::new))) {
            app.awaitReady();
            app.go();
            long before = acknowledged.get();
            port = Integer.parseInt(app.lines().get(0));
            while (acknowledged.get() == before && !over.getAsBoolean()) {
                Thread.sleep(5);
            }
            if (over.getAsBoolean() || killsLeft.getAndDecrement() <= 0) {
                while (!over.getAsBoolean()) {
                    Thread.sleep(20);
                }
                return;
            }
            Thread.sleep(ThreadLocalRandom.current().nextInt(50, 800));
            ledger.lossBegins();
            app.kill();
            ledger.appKilled();
        }
    }

    /** Kills the application that runs, if there is one. */
    void end() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
