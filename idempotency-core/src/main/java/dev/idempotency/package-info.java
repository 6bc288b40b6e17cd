/**
 * The vocabulary and the front door of the library.
 *
 * <p>A service builds one {@link dev.idempotency.Idempotency} from a store and, optionally, a window, and
 * calls {@link dev.idempotency.Idempotency#execute execute} with a {@link dev.idempotency.Request} and an
 * {@link dev.idempotency.Action}. The answer is an {@link dev.idempotency.Outcome}.
 *
 * <p>{@link dev.idempotency.IdempotencyStore} and {@link dev.idempotency.Window} are what the front door
 * needs of others; the packages {@code store} and {@code window} hold implementations and depend on this
 * one, never the other way round.
 */
@NullMarked
package dev.idempotency;

import org.jspecify.annotations.NullMarked;
