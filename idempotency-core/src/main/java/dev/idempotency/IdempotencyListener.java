package dev.idempotency;

import java.time.Duration;

/**
 * Sees what the library does, for metrics and logs. Called on the caller's thread, after the fact, so it should be
 * quick. What a listener throws does not change the outcome of a call: it is logged as a warning by the platform's
 * {@link System.Logger} of the name {@code dev.idempotency}.
 */
public interface IdempotencyListener {

    /**
     * A request was answered.
     *
     * @param request the request
     * @param outcome how; {@link Outcome.Replayed#source()} tells which layer caught a repeat
     * @param elapsed how long the call took, the action included
     */
    default void answered(Request request, Outcome<?> outcome, Duration elapsed) {}

    /**
     * A request failed: the action threw, or the store did.
     *
     * @param request the request
     * @param failure what the caller is thrown
     * @param elapsed how long the call took
     */
    default void failed(Request request, Throwable failure, Duration elapsed) {}

    /**
     * The window failed. A look became a miss, or a committed original was not published, of this call or, where a window
     * writes later, of an earlier one; the call goes on.
     *
     * @param failure what the window threw
     */
    default void windowFailed(Throwable failure) {}

    /**
     * The store's set-up weakens what it promises, such as a Redis that keeps nothing on disk. Told once for each front door that
     * is built. Unless a listener does otherwise, it is logged as a warning, as is what a listener throws.
     *
     * @param warning what it is, and what to do about it
     */
    default void warned(String warning) {
        System.getLogger("dev.idempotency").log(System.Logger.Level.WARNING, warning);
    }
}
