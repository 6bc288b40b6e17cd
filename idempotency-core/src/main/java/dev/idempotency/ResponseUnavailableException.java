package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The action has taken effect and will not run again, but its response could not be kept, so there is none to give. The
 * first call and every repeat get this.
 */
public final class ResponseUnavailableException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public ResponseUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
