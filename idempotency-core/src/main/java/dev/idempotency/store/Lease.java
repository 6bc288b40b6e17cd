package dev.idempotency.store;

import dev.idempotency.LeaseLostException;
import java.time.Duration;

/**
 * The right to act for a key for a while: what an action is handed whose effect lies outside the store.
 *
 * <p>A lease ends by itself, so that a holder that died blocks nobody for long. A holder that merely was slow may then
 * still be at work when the next one starts. Two things guard against it: look at {@link #remaining()} before the effect,
 * and send the {@link #token()} along with it, so that the receiver can turn down whoever comes with an older one.
 *
 * <p>Safe for use by any number of threads, until the action has returned.
 */
public interface Lease {

    /**
     * The fencing token. It only grows for a key, across release, takeover and expiry; a receiver that remembers the
     * largest one seen and refuses smaller ones is safe from late holders.
     *
     * @return a positive number
     */
    long token();

    /**
     * Whether an earlier holder let its lease end without an answer. Then the effect may have happened already: ask the
     * system that it goes to, by the request's key, before causing it again.
     *
     * @return true if the action may have run before for this record
     */
    boolean takenOver();

    /**
     * For how much longer nobody else may take over, as far as this process can tell: counted on its monotonic clock from
     * before the lease was asked for, so never too long.
     *
     * @return the time left; zero if the lease has ended, or was found to be lost
     */
    Duration remaining();

    /**
     * Asks the store for more time. A lease that has ended and was not taken over yet is taken up again.
     *
     * @param by how long the lease shall last from now on; it is never shortened. From one millisecond to {@link
     *     LeaseOptions#LONGEST}
     * @throws LeaseLostException if this holder has the lease no more; stop, and cause no effect
     * @throws IllegalArgumentException if the duration is out of its bounds
     * @throws RuntimeException if the store could not be asked; the time that remains is as before
     */
    void extend(Duration by);

    /**
     * Says that the effect begins now. To be called right before it. If the action fails before this call, the key is
     * released at once and the next request runs the action; if it fails after it, the effect may have happened, and the
     * key stays taken until the lease ends. {@link LeaseOptions#releaseIf} changes that.
     *
     * @throws LeaseLostException if {@link #remaining()} is zero: another holder may be at work, and the effect must not
     *     begin. A failure like any other before the effect
     */
    void effectStarts();
}
