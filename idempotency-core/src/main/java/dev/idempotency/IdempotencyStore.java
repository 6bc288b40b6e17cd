package dev.idempotency;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What has the last word on whether a request is new: <em>execute this request with this action, and tell me what is
 * committed</em>. All that a store does to be first, to wait and to read the original stays inside it.
 *
 * <p>What every store keeps is written as tests in {@code idempotency-testkit}; {@code docs/add-a-store.md} shows how
 * to write one. Stores are safe for use by any number of threads.
 *
 * @param <C> what the action is handed
 * @param <R> the response
 */
public interface IdempotencyStore<C, R extends @Nullable Object> {

    /**
     * Runs the action if no original is stored under any key of the request, and otherwise answers with the original.
     *
     * <ul>
     *   <li>Of any number of concurrent calls that share a key, in any number of threads and processes, the action of at
     *       most one commits. Every other gets that one's response, a refusal, or an error that says to retry.
     *   <li>An action that throws leaves nothing behind, and the next call executes; but for a lease whose effect had started.
     *   <li>Keys are taken all or none, in byte order.
     * </ul>
     *
     * @param request keys and fingerprint
     * @param action what to run
     * @param publication told of what is committed, after its commit
     * @param <X> the checked exception that the action may throw
     * @return how the request was answered
     * @throws X what the action threw, unchanged
     * @throws RetryableException if nothing was stored and calling again is worth it
     * @throws OutcomeUnknownException if the acknowledgement of the commit was lost
     * @throws UnreadableRecordException if there is a record whose response can't be read
     * @throws StoreException if the store is not set up as it must be
     */
    <X extends Exception> Outcome<R> execute(
            Request request, Action<? super C, ? extends R, X> action, Publication<? super R> publication) throws X;

    /**
     * Executes many requests. This one does so one after the other; a store that can take many at once does better.
     *
     * <ul>
     *   <li>Each request is answered as {@link #execute} would answer it, had they come in this order.
     *   <li>Requests of the batch that share a key are one execution.
     * </ul>
     *
     * @param requests the requests
     * @param action what to run for those that are new
     * @param publication told of what is committed, after its commit
     * @param <X> the checked exception that the action may throw
     * @return the outcomes, in the order of the requests
     * @throws X what the action threw, if nothing of the batch was stored
     * @throws BatchException if only a part could be answered, and some of that is stored
     * @throws RetryableException and the others, as {@link #execute} does, if nothing was stored
     */
    default <X extends Exception> List<Outcome<R>> executeAll(
            List<Request> requests, BatchAction<? super C, ? extends R, X> action, Publication<? super R> publication)
            throws X {
        List<Outcome<R>> answered = new ArrayList<>();
        for (Request request : requests) {
            try {
                answered.add(execute(request, action.alone(request), publication));
            } catch (Throwable failure) {
                BatchException.throwIfPartly(answered, requests.size(), failure);
                throw failure;
            }
        }
        return answered;
    }

    /**
     * For how long this store keeps a record, at the least, from when it is stored. A window that lasts longer is refused
     * when it is built.
     *
     * @return the retention, or null if records stay until somebody else removes them
     */
    default @Nullable Duration retention() {
        return null;
    }

    /**
     * What weakens the store's promises in the way it is set up, as found when it was made: told to {@link
     * IdempotencyListener#warned} when a front door is built.
     *
     * @return a sentence for each, with what to do about it; empty if there is nothing to tell
     */
    default List<String> warnings() {
        return List.of();
    }
}
