package dev.idempotency;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What to do for those requests of a batch that are new.
 *
 * @param <C> what the action is handed: a Jdbi {@code Handle}
 * @param <R> the response
 * @param <X> the checked exception that it may throw
 */
@FunctionalInterface
public interface BatchAction<C, R extends @Nullable Object, X extends Exception> {

    /**
     * Does it. Like an {@link Action} it may run more than once, with fewer requests each time, and each request commits at
     * most once. Some of the requests that it is given may turn out to be repeats; what it has done is undone then, and it
     * runs again without them.
     *
     * @param context what the store hands out
     * @param requests requests of the batch, in its order; no two of them share a key
     * @return the response to each request. On a table of your own, a request that is left out is one that the table already
     *     had: {@code INSERT … ON CONFLICT DO NOTHING} has returned no row for it
     * @throws X what reaches the caller unchanged, with nothing stored
     */
    Map<Request, R> run(C context, List<Request> requests) throws X;

    /**
     * This action for one request by itself. For authors of stores.
     *
     * @param request the request
     * @return an action that throws {@link IllegalStateException} if this one leaves the request out
     */
    default Action<C, R, X> alone(Request request) {
        return context -> {
            Map<Request, R> answers = run(context, List.of(request));
            if (!answers.containsKey(request)) {
                throw new IllegalStateException("the action of a batch has not answered " + request);
            }
            return answers.values().iterator().next();
        };
    }
}
