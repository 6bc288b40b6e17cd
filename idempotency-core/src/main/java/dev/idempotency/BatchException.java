package dev.idempotency;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A batch was answered in part: some of its requests have their outcome, for others the cause came in between. Call again
 * with those that have none, or with the whole batch.
 */
public final class BatchException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    private final transient List<@Nullable Outcome<?>> outcomes;

    /**
     * A batch that was answered in part.
     *
     * @param outcomes for each request of the batch its outcome, or null if it has none
     * @param cause why not all of them have one
     */
    public BatchException(List<? extends @Nullable Outcome<?>> outcomes, Throwable cause) {
        super(
                Collections.frequency(outcomes, null) + " of the " + outcomes.size()
                        + " requests of the batch were not answered, for the cause that is given; the others have their"
                        + " outcome, as if each had been sent alone",
                cause);
        this.outcomes = Collections.unmodifiableList(new ArrayList<>(outcomes));
    }

    /**
     * Throws if something of a batch is stored, although it could not be answered as a whole; otherwise whoever calls throws the
     * failure itself. For authors of stores.
     *
     * @param outcomes the outcomes that there are, in the order of the requests; null, or missing at the end, where there is
     *     none
     * @param requests how many requests the batch has
     * @param failure what came in between
     * @throws BatchException if one of the outcomes is {@link Outcome.Executed}
     */
    public static void throwIfPartly(List<? extends @Nullable Outcome<?>> outcomes, int requests, Throwable failure) {
        if (outcomes.stream().anyMatch(Outcome.Executed.class::isInstance)) {
            List<@Nullable Outcome<?>> all = new ArrayList<>(outcomes);
            all.addAll(Collections.nCopies(requests - all.size(), null));
            throw new BatchException(all, failure);
        }
    }

    /**
     * The outcomes.
     *
     * @return for each request of the batch, in its order, its outcome, or null if it has none
     */
    public List<@Nullable Outcome<?>> outcomes() {
        return outcomes;
    }
}
