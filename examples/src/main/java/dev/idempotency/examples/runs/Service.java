package dev.idempotency.examples.runs;

import dev.idempotency.Outcome;
import dev.idempotency.Request;

/** A service over one of the stores, and a look at the effects that it has left. Safe for use by any number of threads. */
interface Service extends AutoCloseable {

    /** Executes the request, or finds that it has been; leaves the effect if it is the first. */
    Outcome<String> send(Request request, Effect effect);

    /** Shows every effect of this run that is stored. */
    void effects(Reader reader);

    /** How many times an action was told that an earlier holder of its lease had left no answer; in this process. */
    default long takeovers() {
        return 0;
    }

    /**
     * Whether both effects of one number are within what the store promises, and this one, by its response, is the one that
     * counts. In a database that never is.
     */
    default boolean overrides(String effect, String other) {
        return false;
    }

    @Override
    void close();

    /** Is shown one effect after the other. */
    interface Reader {
        void effect(long number, String response);
    }
}
