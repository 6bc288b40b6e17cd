package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A failure that the library found or could not hide. Each subclass says what the caller should do. */
public abstract class IdempotencyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * For subclasses.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    protected IdempotencyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
