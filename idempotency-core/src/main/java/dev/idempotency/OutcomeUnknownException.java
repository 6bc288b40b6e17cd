package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The acknowledgement of a commit was lost: what the action did may be stored, or not. Call again with the same key:
 * that finds out, and answers with the original or executes. Where it was that of a lease, the action was not run, as the
 * message says, and the key may be taken until the lease ends.
 */
public final class OutcomeUnknownException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public OutcomeUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
