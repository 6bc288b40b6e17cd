package dev.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * What a request asks for: it runs when no original is known, and its result is the response.
 *
 * <p>An action may <em>run</em> more than once for one key (after a deadlock, or a takeover from a holder that
 * died); it <em>commits</em> at most once. It writes through the context that it is handed, and neither commits
 * nor rolls back by itself.
 *
 * @param <C> what the action is handed: a Jdbi {@code Handle} inside the store's transaction, or a lease
 * @param <R> the response
 * @param <X> the checked exception that the action may throw; {@code execute} throws it unchanged. An action
 *     that throws two kinds needs their common parent spelled out: {@code sends.<Exception>execute(…)}
 */
@FunctionalInterface
public interface Action<C, R extends @Nullable Object, X extends Exception> {

    /**
     * Does what was asked.
     *
     * @param context what to do it with; not to be used after this method has returned
     * @return the response, which is what every repeat gets: immutable, or copied by the store's codec
     * @throws X if it could not be done; then nothing is stored, and the next request with this key runs again. A lease
     *     whose effect had started keeps the key until it ends
     */
    R run(C context) throws X;
}
