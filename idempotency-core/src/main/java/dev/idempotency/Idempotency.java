package dev.idempotency;

import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The front door: answers a request that was sent before as it was answered the first time. How far an action's effect
 * is kept from happening twice is up to the store: see {@code docs/guarantees.md}.
 *
 * <ol>
 *   <li>The window is asked. If every key of the request hits the same record, that is the answer, and the store is not
 *       asked.
 *   <li>Otherwise the store executes: it runs the action and commits, or its unique key refuses and it reads the
 *       original.
 *   <li>What the store tells to be committed goes into the window, and never anything else.
 * </ol>
 *
 * <p>Immutable, and safe for use by any number of threads. Build one per kind of request, and keep it.
 *
 * @param <C> what the action is handed: a Jdbi {@code Handle}, or a lease
 * @param <R> the response: immutable, since the window, and the store to calls that waited for the first, hand the same
 *     object to every repeat
 */
public final class Idempotency<C, R extends @Nullable Object> {

    /** With nobody to tell how long a call took, the clock is not read: that is a fifth of a repeat that the window answers. */
    private static final IdempotencyListener NOBODY = new IdempotencyListener() {};

    private final IdempotencyStore<C, R> store;
    private final PublishedWindow<R> window;
    private final IdempotencyListener listener;

    private Idempotency(IdempotencyStore<C, R> store, PublishedWindow<R> window, IdempotencyListener listener) {
        this.store = store;
        this.window = window;
        this.listener = listener;
    }

    /**
     * Starts to build.
     *
     * @param store what has the last word
     * @param <C> what the action is handed
     * @param <R> the response
     * @return a builder with no window and no listener
     */
    public static <C, R extends @Nullable Object> Builder<C, R> with(IdempotencyStore<C, R> store) {
        return new Builder<>(Objects.requireNonNull(store, "store"));
    }

    /**
     * Runs the action if the request is new, and otherwise answers as the first time.
     *
     * @param request keys and fingerprint
     * @param action what to run; it may run more than once, and commits at most once
     * @param <X> the checked exception that the action may throw
     * @return how the request was answered
     * @throws X what the action threw, unchanged. In a transaction nothing is stored then; a lease keeps the key for a while
     *     if the effect had started. Where the store owns the transaction, an exception that tells of a taken key or of a
     *     deadlock is the store's to handle, and does not come out
     * @throws RetryableException if nothing was stored and calling again is worth it
     * @throws OutcomeUnknownException if the acknowledgement of the commit was lost
     * @throws UnreadableRecordException if there is a record whose response can't be read
     * @throws ResponseUnavailableException if the effect has happened and its response could not be kept
     * @throws LeaseLostException if a lease ended before its action did, and somebody else has taken over
     * @throws StoreException if the store is not set up as it must be
     * @throws IllegalStateException if a joined call has no transaction to join, or a connection is in somebody's already
     */
    public <X extends Exception> Outcome<R> execute(Request request, Action<? super C, ? extends R, X> action)
            throws X {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(action, "action");
        if (listener == NOBODY) {
            return answer(request, action);
        }
        long start = System.nanoTime();
        Outcome<R> outcome;
        try {
            outcome = answer(request, action);
        } catch (Throwable failure) {
            tell(() -> listener.failed(request, failure, since(start)));
            throw failure;
        }
        tell(() -> listener.answered(request, outcome, since(start)));
        return outcome;
    }

    private <X extends Exception> Outcome<R> answer(Request request, Action<? super C, ? extends R, X> action)
            throws X {
        Outcome<R> recent = recent(request);
        return recent != null ? recent : store.execute(request, action, window.publication());
    }

    /**
     * Answers many requests at once, such as those of one poll: what the window does not know goes to the store together, and
     * is committed together. Requests that share a key are one execution. Each request is answered for itself: one that is
     * refused does not keep the others from theirs.
     *
     * <p>All that is new commits or fails together, on a connection that is held for as long; some hundreds of requests make
     * a good batch.
     *
     * @param requests the requests, in the order in which they came
     * @param action what to run for those that are new
     * @param <X> the checked exception that the action may throw
     * @return the outcomes, in the order of the requests
     * @throws X what the action threw, unchanged, if nothing of the batch was stored
     * @throws BatchException if only a part of the batch could be answered, and something of that was stored; it tells the
     *     outcomes that there are. Also if the action threw one, from a batch inside it: that one is the cause then, and
     *     requests that the store was asked about have no outcome
     * @throws RetryableException and the others, as {@link #execute execute} does
     */
    public <X extends Exception> List<Outcome<R>> executeAll(
            List<Request> requests, BatchAction<? super C, ? extends R, X> action) throws X {
        List<Request> all = List.copyOf(requests);
        Objects.requireNonNull(action, "action");
        long start = System.nanoTime();
        List<@Nullable Outcome<R>> outcomes = recent(all);
        List<Request> asked = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (outcomes.get(i) == null) {
                asked.add(all.get(i));
            }
        }
        Throwable failed = null;
        // A batch inside the action may fail in part as well. What it tells is of its own requests.
        List<Throwable> inside = new ArrayList<>();
        BatchAction<C, R, X> watched = (context, fresh) -> {
            try {
                return answersOf(action, context, fresh);
            } catch (BatchException e) {
                inside.add(e);
                throw e;
            }
        };
        try {
            if (!asked.isEmpty()) {
                fill(outcomes, store.executeAll(List.copyOf(asked), watched, window.publication()));
            }
        } catch (BatchException partly) {
            if (inside.contains(partly)) {
                failed = partly;
            } else {
                fill(outcomes, partly.outcomes());
                failed = partly.getCause() == null ? partly : partly.getCause();
            }
            throw new BatchException(outcomes, failed);
        } catch (Throwable failure) {
            failed = failure;
            throw failure;
        } finally {
            tell(all, outcomes, failed, since(start));
        }
        return answered(outcomes);
    }

    @SuppressWarnings("unchecked") // Nobody puts anything into what an action has answered.
    private static <C, R extends @Nullable Object, X extends Exception> Map<Request, R> answersOf(
            BatchAction<? super C, ? extends R, X> action, C context, List<Request> requests) throws X {
        return (Map<Request, R>) action.run(context, requests);
    }

    /** Puts the outcomes that there are where none is yet, in order. */
    @SuppressWarnings("unchecked") // What a store of R told.
    private static <R extends @Nullable Object> void fill(
            List<@Nullable Outcome<R>> outcomes, List<? extends @Nullable Outcome<?>> others) {
        Iterator<? extends @Nullable Outcome<?>> next = others.iterator();
        outcomes.replaceAll(outcome -> outcome != null ? outcome : (Outcome<R>) next.next());
    }

    private static <R extends @Nullable Object> List<Outcome<R>> answered(List<@Nullable Outcome<R>> outcomes) {
        List<Outcome<R>> answered = new ArrayList<>(outcomes.size());
        for (Outcome<R> outcome : outcomes) {
            answered.add(Objects.requireNonNull(outcome, "the store has left a request out"));
        }
        return Collections.unmodifiableList(answered);
    }

    private void tell(
            List<Request> requests, List<@Nullable Outcome<R>> outcomes, @Nullable Throwable failed, Duration elapsed) {
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            Outcome<R> outcome = outcomes.get(i);
            if (outcome != null) {
                tell(() -> listener.answered(request, outcome, elapsed));
            } else if (failed != null) {
                tell(() -> listener.failed(request, failed, elapsed));
            }
        }
    }

    /**
     * The same window and the same listener in front of another store: for a call that joins the caller's transaction,
     * {@code sends.using(store.joining(handle)).execute(request, action)}. Cheap; make one for each call.
     *
     * @param other a store over the same records
     * @param <D> what the other store hands to actions
     * @return a front door to the other store
     */
    public <D> Idempotency<D, R> using(IdempotencyStore<D, R> other) {
        return new Idempotency<>(Objects.requireNonNull(other, "other"), window, listener);
    }

    /**
     * Puts into the window what the caller knows to be committed: after the commit of a transaction that {@link #using
     * joined} calls took part in. Calling it for a transaction that is not committed breaks the one promise of the
     * window, and loses messages.
     *
     * <p>An executed request is remembered under all its keys, and counts as stored now: call this right after the commit. A
     * replayed or refused one is not remembered, since neither the original's fingerprint nor how long it is still kept is
     * known here.
     *
     * @param request the request
     * @param outcome how it was answered
     */
    public void remember(Request request, Outcome<? extends R> outcome) {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(outcome, "outcome");
        if (outcome instanceof Executed<? extends R> executed) {
            window.publication()
                    .committed(
                            request.keys(),
                            new Original<>(new Object(), executed.response(), request.fingerprint()),
                            store.retention());
        }
    }

    /**
     * The window in front of the store, for statistics and for removing what is no longer so. Its {@link Window#clear()
     * clear} and {@link Window#remove remove} also hold back what calls under way at that moment would still publish.
     *
     * @return the window; one that never holds anything if none was asked for
     */
    public Window<R> window() {
        return window;
    }

    private @Nullable Outcome<R> recent(Request request) {
        List<IdempotencyKey> keys = request.keys();
        Original<R> original = window.get(keys.get(0));
        if (original == null) {
            return null;
        }
        for (int i = 1; i < keys.size(); i++) {
            Original<R> other = window.get(keys.get(i));
            if (other == null || !other.identity().equals(original.identity())) {
                return null;
            }
        }
        return answered(request, original);
    }

    /** As above, with two looks for all of them: at their first keys, and at the others of those whose first hits. */
    private List<@Nullable Outcome<R>> recent(List<Request> requests) {
        List<@Nullable Original<R>> firsts =
                window.getAll(requests.stream().map(each -> each.keys().get(0)).toList());
        List<IdempotencyKey> further = new ArrayList<>();
        for (int i = 0; i < firsts.size(); i++) {
            if (firsts.get(i) != null) {
                further.addAll(further(requests.get(i)));
            }
        }
        Iterator<@Nullable Original<R>> others = window.getAll(further).iterator();
        List<@Nullable Outcome<R>> outcomes = new ArrayList<>(firsts.size());
        for (int i = 0; i < firsts.size(); i++) {
            Original<R> original = firsts.get(i);
            boolean all = original != null;
            for (int more = original == null ? 0 : further(requests.get(i)).size(); more > 0; more--) {
                Original<R> other = others.next();
                all &= other != null && other.identity().equals(original.identity());
            }
            outcomes.add(original != null && all ? answered(requests.get(i), original) : null);
        }
        return outcomes;
    }

    private static List<IdempotencyKey> further(Request request) {
        return request.keys().subList(1, request.keys().size());
    }

    private static <R extends @Nullable Object> Outcome<R> answered(Request request, Original<R> original) {
        IdempotencyKey key = request.keys().get(0);
        return Fingerprint.differ(request.fingerprint(), original.fingerprint())
                ? new Mismatch<>(key)
                : new Replayed<>(original.response(), key, Source.WINDOW);
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static void tell(Runnable call) {
        try {
            call.run();
        } catch (Throwable e) {
            System.getLogger("dev.idempotency").log(System.Logger.Level.WARNING, "a listener failed", e);
        }
    }

    /**
     * Builds an {@link Idempotency}. Not safe for use by several threads.
     *
     * @param <C> what the action is handed
     * @param <R> the response
     */
    public static final class Builder<C, R extends @Nullable Object> {

        private final IdempotencyStore<C, R> store;
        private Window.@Nullable Spec window;
        private IdempotencyListener listener = NOBODY;

        private Builder(IdempotencyStore<C, R> store) {
            this.store = store;
        }

        /**
         * Puts a window in front of the store. Without one, every call asks the store.
         *
         * @param spec how to make it, such as {@code CaffeineWindow.lasting(Duration.ofMinutes(5))}
         * @return this builder
         */
        public Builder<C, R> window(Window.Spec spec) {
            this.window = Objects.requireNonNull(spec, "spec");
            return this;
        }

        /**
         * Lets somebody see every outcome.
         *
         * @param listener who
         * @return this builder
         */
        public Builder<C, R> listener(IdempotencyListener listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /**
         * Builds.
         *
         * @return the front door
         * @throws IllegalArgumentException if the window lasts longer than the store keeps records
         */
        public Idempotency<C, R> build() {
            Duration retention = store.retention();
            if (window != null && retention != null && window.lasting().compareTo(retention) > 0) {
                throw new IllegalArgumentException("the window lasts " + window.lasting()
                        + ", and the store keeps records for " + retention
                        + " only: a window may last as long as the store's retention at the most");
            }
            IdempotencyListener told = listener;
            store.warnings().forEach(warning -> tell(() -> told.warned(warning)));
            return new Idempotency<>(
                    store,
                    new PublishedWindow<>(
                            window == null ? new NoWindow<>() : window.create(),
                            failure -> tell(() -> told.windowFailed(failure))),
                    told);
        }
    }
}
