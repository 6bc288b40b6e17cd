package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The lease ended before the action did, and somebody else may have taken over. What this holder did outside the store
 * has happened; its response is not recorded. Call again with the same key to get the response that is.
 */
public final class LeaseLostException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public LeaseLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
