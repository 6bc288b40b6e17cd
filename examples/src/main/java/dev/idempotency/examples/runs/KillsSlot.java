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
 * A place where an application runs, is killed when it has worked for a while and its successor is ready, until there are no
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
        ChildJvm app = start();
        try {
            while (!over.getAsBoolean()) {
                app.awaitReady();
                ChildJvm successor = killsLeft.getAndDecrement() > 0 ? start() : null;
                live(app, successor);
                if (successor != null) {
                    app = successor;
                }
            }
        } catch (InterruptedException e) {
            // Ended.
        } catch (Throwable e) {
            failure = e;
        } finally {
            app.close();
        }
    }

    private ChildJvm start() {
        return ChildJvm.start(KillsApp.class, LONGEST_LIFE, settings.arguments().toArray(String[]::new));
    }

    /** Lets it work until it is killed, which is when its successor is ready, or until all is over. */
    private void live(ChildJvm app, @Nullable ChildJvm successor) throws InterruptedException {
        try {
            app.go();
            long before = acknowledged.get();
            port = Integer.parseInt(app.lines().get(0));
            while (!over.getAsBoolean() && (successor == null || acknowledged.get() == before)) {
                Thread.sleep(5);
            }
            if (successor == null || over.getAsBoolean()) {
                return;
            }
            successor.awaitReady();
            Thread.sleep(ThreadLocalRandom.current().nextInt(50, 800));
            ledger.lossBegins();
            app.kill();
            ledger.appKilled();
        } finally {
            app.close();
            port = 0;
            ledger.takeovers(takeovers.getThenReset());
        }
    }

    /** Kills the application that runs, if there is one. */
    void end() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
