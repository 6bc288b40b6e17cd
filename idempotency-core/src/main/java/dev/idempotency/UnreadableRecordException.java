package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A record is there and its response can't be read: it is damaged, was written by a newer release, can't be decoded, or
 * was committed without a response. The action is never run again for it; repair the record or the codec, or remove
 * the record if the action may run again.
 */
public final class UnreadableRecordException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    /**
     * For stores.
     *
     * @param message what happened and what to do
     * @param cause what the store or its driver threw, or null
     */
    public UnreadableRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
