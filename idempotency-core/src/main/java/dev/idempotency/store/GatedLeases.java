package dev.idempotency.store;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lease protocol for callers who wait: of those in this process that share a key, one asks the store, and the
 * others stand at a gate outside the pool.
 *
 * <ol>
 *   <li>Without waiting, each call asks the backend at once: a refusal says by how much the lease lasts, and whether the
 *       fingerprint is the wrong one.
 *   <li>With waiting, a call first enters the gate. The one in front claims, waits by asking again, and runs the action if
 *       it is granted; the others are answered with what it has found.
 *   <li>Who stood at the gate for as long as a lease, or as it may wait, asks the backend for itself: the one in front may
 *       have overrun its lease.
 * </ol>
 *
 * <p>Safe for use by any number of threads. For authors of stores that are reached through a pool of connections.
 *
 * @param <R> the response
 */
public final class GatedLeases<R> implements IdempotencyStore<Lease, R> {

    /** Whose leases are shorter than this still does not ask more often. */
    private static final Duration SHORTEST_STAND = Duration.ofSeconds(1);

    private final LeaseBackend backend;
    private final Codec<R> codec;
    private final LeaseOptions options;
    private final LeasedStore<R> atOnce;
    private final KeyGate<R> gate = new KeyGate<>();

    /**
     * A store over a backend.
     *
     * @param backend the four primitives
     * @param codec how responses are kept
     * @param options lease, retention and the rest
     * @throws IllegalArgumentException if the lease is longer than the retention
     */
    public GatedLeases(LeaseBackend backend, Codec<R> codec, LeaseOptions options) {
        this.backend = backend;
        this.codec = codec;
        this.options = options;
        this.atOnce = waiting(Duration.ZERO);
    }

    @Override
    public <X extends Exception> Outcome<R> execute(
            Request request, Action<? super Lease, ? extends R, X> action, Publication<? super R> publication)
            throws X {
        if (options.waitAtMost().isZero()) {
            return atOnce.execute(request, action, publication);
        }
        long arrived = System.nanoTime();
        while (true) {
            Duration stand = shorter(left(arrived), longer(options.lease(), SHORTEST_STAND));
            long entered = System.nanoTime();
            try (KeyGate.Pass<R> pass = enter(request, stand)) {
                if (pass.refusal(SHORTEST_STAND) == null) {
                    Outcome<R> answer = pass.answer();
                    return answer != null
                            ? answer
                            : waiting(left(arrived)).execute(request, action, (names, original, remaining) -> {
                                pass.settle(names, original, remaining);
                                publication.committed(names, original, remaining);
                            });
                }
            }
            // A call from inside an action with the same key is turned away before its time, and would be again.
            boolean stood = System.nanoTime() - entered >= stand.toNanos();
            Outcome<R> outcome = atOnce.execute(request, action, publication);
            if (!(outcome instanceof InProgress) || !stood || left(arrived).isZero()) {
                return outcome;
            }
        }
    }

    /** All at once; those that are in progress elsewhere are then waited for, one after the other. */
    @Override
    public <X extends Exception> List<Outcome<R>> executeAll(
            List<Request> requests,
            BatchAction<? super Lease, ? extends R, X> action,
            Publication<? super R> publication)
            throws X {
        List<Outcome<R>> outcomes = atOnce.executeAll(requests, action, publication);
        if (options.waitAtMost().isZero()) {
            return outcomes;
        }
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) instanceof InProgress) {
                try {
                    outcomes.set(i, execute(requests.get(i), action.alone(requests.get(i)), publication));
                } catch (Throwable failure) {
                    List<@Nullable Outcome<R>> answered = new ArrayList<>(outcomes);
                    answered.set(i, null);
                    BatchException.throwIfPartly(answered, requests.size(), failure);
                    throw failure;
                }
            }
        }
        return outcomes;
    }

    private KeyGate.Pass<R> enter(Request request, Duration stand) {
        try {
            return gate.enter(request, stand);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RetryableException("interrupted while waiting for the key; nothing was run", e);
        }
    }

    @Override
    public List<String> warnings() {
        return backend.warnings();
    }

    @Override
    public @Nullable Duration retention() {
        return options.retention();
    }

    private LeasedStore<R> waiting(Duration atMost) {
        return new LeasedStore<>(backend, codec, options.waitAtMost(atMost));
    }

    private Duration left(long arrived) {
        Duration left = options.waitAtMost().minusNanos(System.nanoTime() - arrived);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }
}
