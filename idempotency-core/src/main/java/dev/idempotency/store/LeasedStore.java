package dev.idempotency.store;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.LeaseBackend.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The lease protocol, over the four primitives of a {@link LeaseBackend}: for actions whose effect lies outside the
 * store.
 *
 * <ol>
 *   <li>The keys are claimed, all or none, for an owner that is this call alone. A claim whose reply is lost is repeated a
 *       few times, which gets the same answer.
 *   <li>A complete record: its response is decoded, published under the names that are recorded, and replayed.
 *   <li>A conflict or a mismatch is refused. A record in progress is waited for, if asked, by claiming again after pauses
 *       that grow and are jittered; then it is refused with the time that remains of its lease. Whoever waits changes
 *       nothing.
 *   <li>Granted: the action runs with its {@link Lease}, which is renewed if asked.
 *   <li>The action failed: the key is released, or stays taken until the lease ends, by {@link LeaseOptions#releaseIf}.
 *       Who comes next is told of a holder that let its lease end, however many have released the key since. The action's exception reaches the caller unchanged; a failure to release is a suppressed one of it.
 *   <li>The action returned: the response is encoded and the record completed, which is repeated a few times if the reply
 *       is lost, then published. A response that can't be encoded or kept becomes a mark in its place, so that the action
 *       does not run again.
 * </ol>
 *
 * <p>The action may run again when a lease has ended without an answer, and is told so by {@link Lease#takenOver()}. A
 * holder that overran its lease completes all the same if nobody has taken over by then; if somebody has, it is told by
 * a {@link LeaseLostException}, and the record is the other one's. Completing and releasing are not cut short by an
 * interruption; waiting is.
 *
 * <p>Safe for use by any number of threads.
 *
 * @param <R> the response
 */
public final class LeasedStore<R> implements IdempotencyStore<Lease, R> {

    private static final long SHORTEST_PAUSE = 1_000_000;
    private static final String UNANSWERED =
            "the action has run, and its record is complete, or in progress until the lease ends";

    private final LeaseBackend backend;
    private final Codec<R> codec;
    private final LeaseOptions options;
    private final Waiting waiting;
    private final Insistence insistence;

    /**
     * A store over a backend.
     *
     * @param backend the four primitives
     * @param codec how responses are kept
     * @param options lease, retention and the rest
     * @throws IllegalArgumentException if the lease is longer than the retention
     */
    public LeasedStore(LeaseBackend backend, Codec<R> codec, LeaseOptions options) {
        this(backend, codec, options, Waiting.by(System::nanoTime));
    }

    LeasedStore(LeaseBackend backend, Codec<R> codec, LeaseOptions options, Waiting waiting) {
        this.backend = Objects.requireNonNull(backend, "backend");
        this.codec = Objects.requireNonNull(codec, "codec");
        this.options = Objects.requireNonNull(options, "options").checked();
        this.waiting = waiting;
        this.insistence = new Insistence(backend, waiting);
    }

    /**
     * {@inheritDoc}
     *
     * @throws LeaseLostException if the action returned after its lease had ended and somebody had taken over
     * @throws ResponseUnavailableException if the action has run, now or before, and its response could not be kept
     */
    @Override
    public <X extends Exception> Outcome<R> execute(
            Request request, Action<? super Lease, ? extends R, X> action, Publication<? super R> publication)
            throws X {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(action, "action");
        Objects.requireNonNull(publication, "publication");
        return execute(new LeaseBackend.Asked(request, UUID.randomUUID()), null, action, publication);
    }

    /**
     * Claims for all of them at once, where the backend can, and then goes one after the other. A lease that has waited for its
     * turn for more than half of its time is extended first.
     */
    @Override
    public <X extends Exception> List<Outcome<R>> executeAll(
            List<Request> requests,
            BatchAction<? super Lease, ? extends R, X> action,
            Publication<? super R> publication)
            throws X {
        List<LeaseBackend.Asked> asked = requests.stream()
                .map(request -> new LeaseBackend.Asked(request, UUID.randomUUID()))
                .toList();
        long at = waiting.now();
        List<@Nullable Claim> claims = backend.claimAll(asked, options.lease(), options.retention());
        List<Outcome<R>> answered = new ArrayList<>();
        for (int i = 0; i < asked.size(); i++) {
            LeaseBackend.Asked next = asked.get(i);
            try {
                Claim claim = claims.get(i);
                // By now a record in progress may be done, as by an earlier request of the batch.
                boolean stale = claim instanceof Claim.Refused refused && refused.reason() instanceof InProgress;
                Claimed first = claim == null || stale ? null : new Claimed(claim, at);
                answered.add(execute(next, first, action.alone(next.request()), publication));
            } catch (Throwable failure) {
                giveBack(asked, claims, i + 1, failure);
                BatchException.throwIfPartly(answered, requests.size(), failure);
                throw failure;
            }
        }
        return answered;
    }

    /** Leases that were granted, and whose turn does not come. */
    private void giveBack(List<LeaseBackend.Asked> asked, List<@Nullable Claim> claims, int from, Throwable failure) {
        for (int i = from; i < asked.size(); i++) {
            if (claims.get(i) instanceof Claim.Granted granted) {
                LeaseBackend.Asked each = asked.get(i);
                try {
                    backend.release(each.request(), each.owner(), granted.token());
                } catch (RuntimeException e) {
                    failure.addSuppressed(e);
                }
            }
        }
    }

    /** What a claim has come to, and when it was sent. */
    private record Claimed(Claim claim, long at) {}

    private <X extends Exception> Outcome<R> execute(
            LeaseBackend.Asked asked,
            @Nullable Claimed known,
            Action<? super Lease, ? extends R, X> action,
            Publication<? super R> publication)
            throws X {
        Request request = asked.request();
        long arrived = waiting.now();
        Claimed claimed = known;
        UUID owner = asked.owner();
        for (int looks = 0; ; looks++) {
            if (claimed == null) {
                long at = waiting.now();
                claimed = new Claimed(insistence.claim(request, owner, options.lease(), options.retention()), at);
            }
            if (claimed.claim() instanceof Claim.Granted granted) {
                HeldLease lease = new HeldLease(
                        backend,
                        waiting,
                        request,
                        owner,
                        granted,
                        claimed.at() + options.lease().toNanos());
                if (looks == 0 && known != null && !lasts(lease)) {
                    // Somebody has taken over before it was this one's turn.
                    claimed = null;
                    owner = UUID.randomUUID();
                    continue;
                }
                R response = run(action, lease);
                byte[] payload = complete(lease, response);
                publish(request.keys(), granted.identity(), payload, request.fingerprint(), publication);
                return new Executed<>(response);
            }
            if (claimed.claim() instanceof Claim.Done done) {
                return replay(done, publication);
            }
            Outcome.Refused<R> refusal = refusal((Claim.Refused) claimed.claim());
            long left = options.waitAtMost().toNanos() - (waiting.now() - arrived);
            if (!(refusal instanceof InProgress<R> inProgress) || left <= 0) {
                return refusal;
            }
            // No longer than the lease lasts, so that what its holder left is soon taken over.
            long pause = Math.min(Waiting.growing(looks), nanos(inProgress.retryAfter()));
            pause(Math.min(left, Math.max(SHORTEST_PAUSE, pause)));
            claimed = null;
        }
    }

    /** Sees to it that a lease that has waited for its turn lasts for half of its time at the least. */
    private boolean lasts(HeldLease lease) {
        if (lease.remaining().compareTo(options.lease().dividedBy(2)) > 0) {
            return true;
        }
        return insistence.insist("nothing was run, and the key stays taken until the lease ends", () -> {
            try {
                lease.extend(options.lease());
                return true;
            } catch (LeaseLostException e) {
                return false;
            }
        });
    }

    @Override
    public List<String> warnings() {
        return backend.warnings();
    }

    @Override
    public Duration retention() {
        return options.retention();
    }

    /** Publishes a copy, which the caller can't change any more. */
    private void publish(
            List<IdempotencyKey> names,
            Object identity,
            byte[] payload,
            @Nullable Fingerprint fingerprint,
            Publication<? super R> publication) {
        R copy;
        try {
            copy = decode(payload);
        } catch (UnreadableRecordException e) {
            // The effect has happened and is recorded; the first repeat will tell of the codec.
            return;
        }
        publication.committed(names, new Original<>(identity, copy, fingerprint), options.retention());
    }

    private Outcome<R> replay(Claim.Done done, Publication<? super R> publication) {
        Original<byte[]> kept = done.original();
        R response = decode(kept.response());
        publication.committed(
                done.names(),
                new Original<>(kept.identity(), decode(kept.response()), kept.fingerprint()),
                done.remaining());
        return new Replayed<>(response, done.matched(), Source.STORE);
    }

    @SuppressWarnings("NullAway") // Null where an action has returned null, which R can't say.
    private R decode(byte[] payload) {
        return Payload.decode(codec, payload);
    }

    private <X extends Exception> R run(Action<? super Lease, ? extends R, X> action, HeldLease lease) throws X {
        try {
            Runnable stopRenewal = lease.renewedBy(options.renewer(), options.lease());
            try {
                return action.run(lease);
            } finally {
                stopRenewal.run();
            }
        } catch (Throwable failure) {
            try {
                if (options.releaseIf().test(failure, lease.effectStarted())
                        && !insistence.insist(
                                "the key was not released, and stays taken until the lease ends", lease::release)) {
                    failure.addSuppressed(new LeaseLostException(
                            "the key was not released: somebody else has taken over, and its record is untouched",
                            null));
                }
            } catch (RuntimeException | Error e) {
                if (e != failure) {
                    failure.addSuppressed(e);
                }
            }
            throw failure;
        }
    }

    private byte[] complete(HeldLease lease, R response) {
        Throwable notKept = null;
        byte[] payload = Payload.unavailable();
        boolean completed = false;
        try {
            byte[] encoded = Payload.encode(codec, response);
            payload = encoded;
            completed = insistence.insist(UNANSWERED, () -> lease.complete(encoded, options.retention()));
        } catch (StoreException | Error e) {
            notKept = e;
            completed = completeWithout(lease, e);
        }
        if (!completed) {
            throw new LeaseLostException(
                    "the action has run, and its lease ended before it did; somebody else has taken over, or the record"
                            + " is gone. Its response is not recorded",
                    notKept);
        }
        if (notKept != null) {
            throw new ResponseUnavailableException(
                    "the action has run and will not run again, and its response could not be kept", notKept);
        }
        return payload;
    }

    private boolean completeWithout(HeldLease lease, Throwable reason) {
        try {
            return insistence.insist(UNANSWERED, () -> lease.complete(Payload.unavailable(), options.retention()));
        } catch (StoreException | OutcomeUnknownException e) {
            OutcomeUnknownException unknown = new OutcomeUnknownException(
                    "the action has run and could not be recorded; after the lease has ended it may run again", e);
            unknown.addSuppressed(reason);
            throw unknown;
        }
    }

    private void pause(long nanos) {
        try {
            waiting.pause(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RetryableException("interrupted while waiting for the key; nothing was run", e);
        }
    }

    @SuppressWarnings("unchecked") // A refusal holds no response.
    private static <R> Outcome.Refused<R> refusal(Claim.Refused refused) {
        return (Outcome.Refused<R>) refused.reason();
    }

    private static long nanos(Duration remaining) {
        return remaining.compareTo(LeaseOptions.LONGEST) > 0 ? LeaseOptions.LONGEST.toNanos() : remaining.toNanos();
    }
}
