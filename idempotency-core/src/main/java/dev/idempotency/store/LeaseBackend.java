package dev.idempotency.store;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The four primitives that a store needs in order to lease. {@link LeasedStore} makes the whole protocol of them. For
 * authors of stores.
 *
 * <p>A <em>record</em> has an identity, one or more names (keys), an optional {@link Fingerprint}, an owner, a token, the
 * deadline of its lease and that of its retention; once it is complete, a {@link Payload} too.
 *
 * <ul>
 *   <li>Each primitive is atomic over all names that it touches, and gives no answer before what it changed is as durable
 *       as the store promises.
 *   <li>Time is the store's own, read inside the primitive. A deadline is over as soon as now is equal to it.
 *   <li>A record whose retention is over counts as absent, whether complete or not. Until then a record stays, whatever
 *       has become of its lease. One whose lease deadline is missing or damaged is in progress for that long.
 *   <li>Only owner and token decide whether complete, release and extend work. A holder whose lease is over and that
 *       nobody took over from may still complete, release and extend.
 *   <li>All four may be repeated by the same owner after a lost reply, and answer as they would have the first time.
 * </ul>
 *
 * <p>A primitive that fails throws a {@link RetryableException} if nothing was changed and trying again is worth it, a
 * {@link StoreException} if nothing was changed and trying again is not, and anything else if it can't tell. It is safe
 * for use by any number of threads.
 */
public interface LeaseBackend {

    /**
     * Takes all keys of a request, or none.
     *
     * <ol>
     *   <li>A record in progress that this owner has already: {@link Claim.Granted} again, the same.
     *   <li>Keys of different records, each of them complete, in progress or with its lease over: a {@link Conflict}.
     *   <li>A record with another fingerprint, in the same states: a {@link Mismatch}.
     *   <li>A record whose lease lasts: {@link InProgress}, with the time that remains of it.
     *   <li>A complete record: keys of the request that are new become names of it. {@link Claim.Done}.
     *   <li>A record in progress whose lease is over: this owner takes over the whole record, with all its names and the
     *       request's, with a new lease, a new retention and the request's fingerprint (or none). {@link Claim.Granted}.
     *       Where its identity is this very owner, who comes back late for a record that somebody has taken over from it,
     *       it gets the owner before as its identity.
     *   <li>No record: a new one, whose identity is the owner. {@link Claim.Granted}.
     * </ol>
     *
     * <p>So a record has been taken over exactly if its identity is not its owner, and one that has not has exactly the names
     * of its owner's request.
     *
     * <p>The first four cases change nothing. {@link Judgement#refusal} tells the second and third. A new token is at
     * least the last one of any of the keys + 1, released, expired and purged records included, and at least the store's
     * clock in microseconds since 1970.
     *
     * @param request keys and fingerprint
     * @param owner who asks; another one for each call of a service
     * @param lease how long the lease lasts from now
     * @param retention how long the record is kept from now if nobody completes it; not shorter than the lease
     * @return what became of it
     * @throws RetryableException if nothing was changed, and it is worth asking again later; also if there is no room
     * @throws StoreException if nothing was changed, and asking again will not mend it
     */
    Claim claim(Request request, UUID owner, Duration lease, Duration retention);

    /**
     * Claims for many requests at once, each as {@link #claim} does, in their order. This one claims nothing; a backend that
     * can ask for all of them in one round trip does better.
     *
     * @param asked who asks for what
     * @param lease how long each lease lasts from now
     * @param retention how long each record is kept from now if nobody completes it
     * @return for each what became of it, or null if it was not claimed or that is not known: it is to be claimed alone then,
     *     by the same owner
     */
    default List<@Nullable Claim> claimAll(List<Asked> asked, Duration lease, Duration retention) {
        return Collections.nCopies(asked.size(), null);
    }

    /**
     * One of many claims.
     *
     * @param request keys and fingerprint
     * @param owner who asks
     */
    record Asked(Request request, UUID owner) {}

    /**
     * Completes a record in progress, under all its names.
     *
     * @param request the request that was granted
     * @param owner who completes
     * @param token the token that was granted
     * @param payload what repeats are answered with; not changed afterwards
     * @param retention how long the record is kept from now
     * @return true if it is complete, also if this owner has completed it with this token before, which changes nothing;
     *     false if this owner does not have it
     * @throws StoreException if this payload can't be kept, as one too large; nothing was changed
     */
    boolean complete(Request request, UUID owner, long token, byte[] payload, Duration retention);

    /**
     * Gives back a record in progress, so that the next claim is granted at once.
     *
     * <ol>
     *   <li>A record that was never taken over, whose identity is its owner, is removed with all its names: the next claim is
     *       granted as for a new key.
     *   <li>A record that was taken over is kept with all its names, since the effect of a holder before this one may have
     *       happened: its lease ends now, and nothing else of it changes. The next claim takes over and is told so, and
     *       until then this owner has it as one whose lease is over.
     * </ol>
     *
     * @param request the request that was granted
     * @param owner who releases
     * @param token the token that was granted
     * @return true if the record is removed or its lease has ended, also if there was none; false if there is one that is
     *     not this owner's, or is complete
     */
    boolean release(Request request, UUID owner, long token);

    /**
     * Lets the lease of a record in progress last for a time from now, or for as long as it does if that is longer. The
     * record is then kept for at least as long.
     *
     * @param request the request that was granted
     * @param owner who extends
     * @param token the token that was granted
     * @param by how long from now
     * @return false if this owner does not have it, or it is complete
     */
    boolean extend(Request request, UUID owner, long token, Duration by);

    /**
     * What weakens the promises of this backend in the way it is set up, as {@link
     * dev.idempotency.IdempotencyStore#warnings}.
     *
     * @return a sentence for each
     */
    default List<String> warnings() {
        return List.of();
    }

    /** What became of a claim. */
    sealed interface Claim {

        /**
         * The record is this owner's.
         *
         * @param identity what tells the record from every other one
         * @param token the fencing token
         * @param takenOver whether the record was another owner's before
         */
        record Granted(Object identity, long token, boolean takenOver) implements Claim {
            /** Checks that there is an identity. */
            public Granted {
                Objects.requireNonNull(identity, "identity");
            }
        }

        /**
         * The record is complete.
         *
         * @param matched the first key of the request that found it, which was a name of it before
         * @param original identity, payload and fingerprint
         * @param names keys of the request under which the record is found from now on
         * @param remaining for how much longer the record is kept
         */
        record Done(
                IdempotencyKey matched, Original<byte[]> original, Collection<IdempotencyKey> names, Duration remaining)
                implements Claim {
            /** Copies the names. */
            public Done {
                Objects.requireNonNull(matched, "matched");
                Objects.requireNonNull(original, "original");
                names = List.copyOf(names);
                Objects.requireNonNull(remaining, "remaining");
            }
        }

        /**
         * Nothing was changed.
         *
         * @param reason a conflict, a mismatch, or in progress with the time that remains of the lease
         */
        record Refused(Outcome.Refused<?> reason) implements Claim {
            /** Checks that there is a reason. */
            public Refused {
                Objects.requireNonNull(reason, "reason");
            }
        }
    }
}
