package dev.idempotency.store;

import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.LeaseBackend.Claim;
import java.time.Duration;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * Asks a backend again that has not answered, a few times and after pauses that grow: each primitive answers the same owner as
 * it would have the first time.
 */
final class Insistence {

    private static final int TRIES = 4;

    private final LeaseBackend backend;
    private final Waiting waiting;

    Insistence(LeaseBackend backend, Waiting waiting) {
        this.backend = backend;
        this.waiting = waiting;
    }

    /** A try that was not answered may have taken the key: what a later one fails with does not say that it is free. */
    Claim claim(Request request, UUID owner, Duration lease, Duration retention) {
        RuntimeException unanswered = null;
        for (int tries = 1; ; tries++) {
            try {
                return backend.claim(request, owner, lease, retention);
            } catch (UnreadableRecordException definite) {
                throw definite;
            } catch (RuntimeException failure) {
                boolean answered = failure instanceof RetryableException || failure instanceof StoreException;
                if (answered && unanswered == null) {
                    throw failure;
                }
                if (unanswered == null) {
                    unanswered = failure;
                } else if (failure != unanswered) {
                    unanswered.addSuppressed(failure);
                }
                if (tries == TRIES || failure instanceof StoreException) {
                    throw perhapsTaken(unanswered);
                }
            }
            try {
                waiting.pause(Waiting.growing(tries));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw perhapsTaken(unanswered);
            }
        }
    }

    private static OutcomeUnknownException perhapsTaken(RuntimeException unanswered) {
        return new OutcomeUnknownException(
                "nothing was run, and the store did not answer whether the key is free: if it was, it is taken until the"
                        + " lease ends. Call again with the same key",
                unanswered);
    }

    /** Asks until there is an answer, a few times. What follows an action is not cut short by an interruption. */
    boolean insist(String otherwise, BooleanSupplier primitive) {
        boolean interrupted = Thread.interrupted();
        try {
            for (int tries = 1; ; tries++) {
                try {
                    return primitive.getAsBoolean();
                } catch (StoreException definite) {
                    throw definite;
                } catch (RuntimeException unknown) {
                    if (tries == TRIES) {
                        throw new OutcomeUnknownException("the store did not answer: " + otherwise, unknown);
                    }
                }
                try {
                    waiting.pause(Waiting.growing(tries));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
