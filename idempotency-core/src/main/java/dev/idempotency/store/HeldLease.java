package dev.idempotency.store;

import dev.idempotency.LeaseLostException;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A lease that a backend has granted, seen from its holder. */
final class HeldLease implements Lease {

    private final LeaseBackend backend;
    private final Waiting waiting;
    private final Request request;
    private final UUID owner;
    private final LeaseBackend.Claim.Granted granted;
    private final AtomicLong deadline;

    /** A renewal under way must not outlast a release: a record that is kept would have its lease again. */
    private final ReentrantLock renewing = new ReentrantLock();

    private boolean over;
    private volatile boolean lost;
    private volatile boolean effectStarted;

    HeldLease(
            LeaseBackend backend,
            Waiting waiting,
            Request request,
            UUID owner,
            LeaseBackend.Claim.Granted granted,
            long deadline) {
        this.backend = backend;
        this.waiting = waiting;
        this.request = request;
        this.owner = owner;
        this.granted = granted;
        this.deadline = new AtomicLong(deadline);
    }

    @Override
    public long token() {
        return granted.token();
    }

    @Override
    public boolean takenOver() {
        return granted.takenOver();
    }

    @Override
    public Duration remaining() {
        return lost ? Duration.ZERO : Duration.ofNanos(Math.max(0, deadline.get() - waiting.now()));
    }

    @Override
    public void extend(Duration by) {
        LeaseOptions.check("extension of a lease", by, LeaseOptions.SHORTEST);
        long asked = waiting.now();
        if (!backend.extend(request, owner, granted.token(), by)) {
            lost = true;
            throw new LeaseLostException(
                    "the lease could not be extended: it ended, and somebody else has taken over, or its record is gone",
                    null);
        }
        deadline.accumulateAndGet(asked + by.toNanos(), (old, extended) -> extended - old > 0 ? extended : old);
    }

    @Override
    public void effectStarts() {
        if (remaining().isZero()) {
            throw new LeaseLostException("the lease ended before the effect began; nothing was done", null);
        }
        effectStarted = true;
    }

    boolean effectStarted() {
        return effectStarted;
    }

    boolean complete(byte[] payload, Duration retention) {
        return backend.complete(request, owner, granted.token(), payload, retention);
    }

    boolean release() {
        renewing.lock();
        try {
            over = true;
            return backend.release(request, owner, granted.token());
        } finally {
            renewing.unlock();
        }
    }

    /** Renews until what is returned is run. */
    Runnable renewedBy(@Nullable ScheduledExecutorService scheduler, Duration lease) {
        if (scheduler == null) {
            return () -> {};
        }
        long third = lease.toNanos() / 3;
        try {
            Future<?> renewals =
                    scheduler.scheduleWithFixedDelay(() -> renew(lease), third, third, TimeUnit.NANOSECONDS);
            return () -> renewals.cancel(false);
        } catch (RejectedExecutionException e) {
            throw new StoreException("the scheduler that renews leases takes no more work; nothing was run", e);
        }
    }

    private void renew(Duration lease) {
        renewing.lock();
        try {
            if (!lost && !over) {
                extend(lease);
            }
        } catch (RuntimeException e) {
            // The action sees it in what remains; the next renewal may go better.
        } finally {
            renewing.unlock();
        }
    }
}
