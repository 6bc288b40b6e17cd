package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Nothing was stored by this call, and it is safe and useful to call again with the same key, after a pause: a
 * deadlock, a lock time-out, a serialization failure, a full store, or an interruption (then the thread's interrupt
 * flag is set).
 */
public class RetryableException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public RetryableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
