package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The store failed in a way that calling again will not mend: a missing table, a wrong configuration, a codec that can't
 * encode the response. Nothing was stored by this call.
 */
public final class StoreException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
