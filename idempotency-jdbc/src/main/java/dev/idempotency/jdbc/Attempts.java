package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyException;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.RetryableException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Runs again what other transactions were in the way of, a bounded number of times and after random pauses. */
final class Attempts {

    private static final int MAX_ATTEMPTS = 10;
    private static final long FIRST_PAUSE_MILLIS = 4;
    private static final long LONGEST_PAUSE_MILLIS = 500;

    private Attempts() {}

    /** One attempt, on a connection of its own. */
    @FunctionalInterface
    interface Attempt<T, X extends Exception> {

        /**
         * Tries.
         *
         * @param again whether an attempt before this one came back with null
         * @return null if it is worth one more
         */
        @Nullable
        T on(Session session, boolean again) throws X;
    }

    /**
     * Tries until there is a result.
     *
     * @throws X what an attempt threw, if it does not say that trying again helps
     * @throws RetryableException if it was tried often enough, or the thread is interrupted between two attempts
     */
    static <T, X extends Exception> T run(Database database, Attempt<T, X> attempt) throws X {
        boolean again = false;
        Throwable inTheWay = null;
        for (int tries = 1; tries <= MAX_ATTEMPTS; tries++) {
            try (Session session = Session.open(database)) {
                T result = attempt.on(session, again);
                if (result != null) {
                    return result;
                }
                again = true;
            } catch (Throwable failure) {
                if (!mayRunAgain(failure, database) && !StatementFailure.saysKeyTaken(failure)) {
                    RuntimeException translated = StatementFailure.translated(failure);
                    if (translated != null) {
                        throw translated;
                    }
                    throw failure;
                }
                inTheWay = failure;
            }
            pause(tries);
        }
        throw new RetryableException(
                "other transactions were in the way of each of " + MAX_ATTEMPTS
                        + " attempts, and nothing was stored; call again later",
                inTheWay);
    }

    static boolean mayRunAgain(Throwable failure, Database database) {
        if (failure instanceof IdempotencyException) {
            return failure instanceof RetryTransactionException;
        }
        return SqlFailures.saysRunAgain(failure, database.dialect());
    }

    /** A random part of a time that doubles, so that those who were in each other's way part. */
    private static void pause(int tries) {
        long longest = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << tries);
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(1, longest + 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RetryableException(
                    "interrupted while waiting, so nothing was stored by this call; call again", e);
        }
    }
}
