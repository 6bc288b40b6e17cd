package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.jdbc.Records.Found;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * A call inside the caller's transaction.
 *
 * <ol>
 *   <li>Set a savepoint, and store as the first one by running the action. If that works, the rest is the caller's;
 *       nothing is published.
 *   <li>If a key is taken: back to the savepoint, and read the original with a locking read. It is not published either: it
 *       may be of this very transaction, whose end is not this call's to see.
 *   <li>If no original is to be seen: once more from 1, which takes over a record that has expired. Above READ COMMITTED the
 *       snapshot may be older than the original, so the caller is to run its transaction again (on an own table at once);
 *       at READ COMMITTED it was another constraint.
 *   <li>After a deadlock, a serialization failure or a lost savepoint the transaction is dead: this call and further ones in
 *       it tell the caller to run it again.
 * </ol>
 */
final class JoinedStore<R extends @Nullable Object> implements IdempotencyStore<Handle, R> {

    private final Dialect dialect;
    private final Records<R> records;
    private final Handle handle;

    JoinedStore(Dialect dialect, Records<R> records, Handle handle) {
        this.dialect = dialect;
        this.records = records;
        this.handle = handle;
    }

    @Override
    public <X extends Exception> Outcome<R> execute(
            Request request, Action<? super Handle, ? extends R, X> action, Publication<? super R> publication)
            throws X {
        if (!handle.isInTransaction()) {
            throw new IllegalStateException(
                    "the handle or connection is in no transaction, so there is none to join: begin one, or let"
                            + " the store own the transaction by calling it without joining");
        }
        if (DeadTransactions.contains(handle.getConnection())) {
            throw new RetryTransactionException(
                    "an earlier call has found this transaction dead: roll it back, and run it again from its beginning",
                    null);
        }
        Outcome<R> outcome = attempt(request, action, false);
        if (outcome == null) {
            outcome = attempt(request, action, true);
        }
        if (outcome == null) {
            throw runAgain("a key is taken by a record that this transaction does not see", null);
        }
        return outcome;
    }

    /**
     * One after the other, each undone by itself if it is a repeat.
     *
     * @throws RetryTransactionException if the transaction has to be run again, with all that this batch has done in it
     */
    @Override
    public <X extends Exception> List<Outcome<R>> executeAll(
            List<Request> requests,
            BatchAction<? super Handle, ? extends R, X> action,
            Publication<? super R> publication)
            throws X {
        Batch<R> batch = new Batch<>(requests);
        try {
            batch.<X>answerRest(request -> execute(request, BatchCall.alone(action, request), publication));
        } catch (RetryTransactionException nothingStays) {
            throw nothingStays;
        } catch (Throwable failure) {
            BatchException.throwIfPartly(batch.outcomes(), requests.size(), failure);
            throw failure;
        }
        return batch.answers();
    }

    private <X extends Exception> @Nullable Outcome<R> attempt(
            Request request, Action<? super Handle, ? extends R, X> action, boolean again) throws X {
        Savepoint savepoint = savepoint();
        try {
            R response;
            try (TransactionWatch watch = TransactionWatch.on(handle, dialect)) {
                response = watch.over(() -> records.first(handle, request, action, again))
                        .response();
            }
            if (!handle.isInTransaction()) {
                throw new OutcomeUnknownException(
                        "the action ended the caller's transaction, and what was done in it may be stored or not: an action"
                                + " must neither commit nor roll back",
                        null);
            }
            release(savepoint);
            return new Executed<>(response);
        } catch (Throwable failure) {
            if (failure instanceof OutcomeUnknownException) {
                throw failure;
            }
            backTo(savepoint, failure);
            if (SqlFailures.saysRunAgain(failure, dialect)) {
                throw dead(
                        "another transaction was in the way", failure, SqlFailures.endsTransaction(failure, dialect));
            }
            if (failure instanceof IdempotencyException || !records.mayStemFromRepeat(failure, false)) {
                RuntimeException translated = StatementFailure.translated(failure);
                if (translated != null) {
                    throw translated;
                }
                throw failure;
            }
            Found<R> found = original(request);
            if (found != null) {
                return found.outcome();
            }
            if (!records.refusedBy(failure)) {
                throw failure;
            }
            // In the library's table the record may have expired as well: the second attempt takes it over.
            if ((again || records.otherConstraintsPossible()) && snapshotMayBeOld()) {
                throw runAgain(
                        "a key is taken by a record that is newer than this transaction's snapshot (if this comes back each"
                                + " time, it is another unique constraint than a key's: see the cause)",
                        failure);
            }
            if (again && records.otherConstraintsPossible()) {
                throw failure;
            }
            return null;
        }
    }

    private @Nullable Found<R> original(Request request) {
        Savepoint savepoint = savepoint();
        try {
            Found<R> found = records.find(handle, request, true);
            if (found != null && !found.unrecorded().isEmpty()) {
                records.addNames(handle, request, found);
            }
            release(savepoint);
            return found;
        } catch (RuntimeException failure) {
            backTo(savepoint, failure);
            if (StatementFailure.saysKeyTaken(failure)) {
                return null;
            }
            if (SqlFailures.saysRunAgain(failure, dialect)) {
                throw dead(
                        "another transaction was in the way", failure, SqlFailures.endsTransaction(failure, dialect));
            }
            RuntimeException translated = StatementFailure.translated(failure);
            throw translated != null ? translated : failure;
        }
    }

    private Savepoint savepoint() {
        try {
            return handle.getConnection().setSavepoint();
        } catch (SQLException e) {
            throw dead("no savepoint could be set", e, false);
        }
    }

    private void release(Savepoint savepoint) {
        try {
            handle.getConnection().releaseSavepoint(savepoint);
        } catch (SQLException e) {
            throw StatementFailure.of(e);
        }
    }

    /** Undoes the call. If that can't be done, the savepoint went down with the whole transaction. */
    private void backTo(Savepoint savepoint, Throwable failure) {
        try {
            handle.getConnection().rollback(savepoint);
            handle.getConnection().releaseSavepoint(savepoint);
        } catch (SQLException e) {
            failure.addSuppressed(e);
            throw dead("the transaction is gone, with its savepoint", failure, true);
        }
    }

    private boolean snapshotMayBeOld() {
        try {
            return handle.getConnection().getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED;
        } catch (SQLException e) {
            throw runAgain("the connection failed", e);
        }
    }

    private RetryTransactionException dead(String why, Throwable cause, boolean gone) {
        DeadTransactions.add(handle.getConnection(), dialect, gone);
        return runAgain(why, cause);
    }

    private static RetryTransactionException runAgain(String why, @Nullable Throwable cause) {
        return new RetryTransactionException(
                why + ": roll the transaction back and run it again from its beginning, with the same key", cause);
    }

    @Override
    public @Nullable Duration retention() {
        return records.retention();
    }
}
