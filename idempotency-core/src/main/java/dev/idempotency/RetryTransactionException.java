package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The caller's own transaction can't go on: roll it back and run it again from its beginning, with the same key. It
 * is the victim of a deadlock, or its snapshot is older than the original that stopped this call.
 */
public final class RetryTransactionException extends RetryableException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public RetryTransactionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
