package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** The response of a refused request was asked for. Look at {@link #refused()} for the reason. */
public final class RefusedException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    private final transient Outcome.@Nullable Refused<?> refused;

    RefusedException(Outcome.Refused<?> refused) {
        super("the request was refused: " + refused, null);
        this.refused = refused;
    }

    /**
     * Why.
     *
     * @return the outcome whose response was asked for, or null on a copy that was serialised
     */
    public Outcome.@Nullable Refused<?> refused() {
        return refused;
    }
}
