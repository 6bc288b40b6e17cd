package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.jdbc.Records.First;
import dev.idempotency.jdbc.Records.Found;
import dev.idempotency.store.KeyGate;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * A call in a transaction of its own.
 *
 * <ol>
 *   <li>Wait outside the pool for calls in this process that hold one of the keys; if they have found the answer, that is
 *       it.
 *   <li>Take a connection, begin, store as the first one by running the action, commit. Then, and only then, give the
 *       connection back, and publish: a slow window holds none.
 *   <li>If a key is taken: roll back, and read the original on the same connection in a new transaction, which shows it at
 *       every isolation level. Keys that are new beside a known one are recorded as more names of it.
 *   <li>If no original is there, it was removed meanwhile, or another constraint was hit: once more from 2. The second time
 *       it was another constraint, and the action's exception reaches the caller.
 *   <li>Deadlocks, serialization failures and lock time-outs: from 2 after a pause, a bounded number of times.
 * </ol>
 */
class OwnTransactionStore<R extends @Nullable Object> implements JdbcStore<R> {

    /** What a caller is told to wait whose own waiting was in vain. */
    static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    final Database database;
    private final Records<R> records;
    private final Duration waitAtMost;
    private final KeyGate<R> gate = new KeyGate<>();

    OwnTransactionStore(Database database, Records<R> records, Duration waitAtMost) {
        this.database = database;
        this.records = records;
        this.waitAtMost = waitAtMost;
    }

    @Override
    public <X extends Exception> Outcome<R> execute(
            Request request, Action<? super Handle, ? extends R, X> action, Publication<? super R> publication)
            throws X {
        return execute(request, action, publication, new Patience(waitAtMost));
    }

    private <X extends Exception> Outcome<R> execute(
            Request request,
            Action<? super Handle, ? extends R, X> action,
            Publication<? super R> publication,
            Patience patience)
            throws X {
        try (KeyGate.Pass<R> pass = patience.waiting(atMost -> gate.enter(request, atMost))) {
            Outcome<R> refusal = pass.refusal(RETRY_AFTER);
            if (refusal != null) {
                return refusal;
            }
            Outcome<R> answer = pass.answer();
            if (answer != null) {
                return answer;
            }
            Found<R> told =
                    Attempts.<Found<R>, X>run(database, (session, again) -> attempt(session, request, action, again));
            tell(told, publication, pass);
            return told.outcome();
        }
    }

    @Override
    public <X extends Exception> List<Outcome<R>> executeAll(
            List<Request> requests,
            BatchAction<? super Handle, ? extends R, X> action,
            Publication<? super R> publication)
            throws X {
        Batch<R> batch = new Batch<>(requests);
        Patience patience = new Patience(waitAtMost);
        try {
            List<KeyGate.Pass<R>> passes = patience.waiting(atMost -> gate.enterAll(batch.leaders(), atMost));
            try {
                new BatchCall<>(database, records, batch, action, publication).run(passes);
            } finally {
                passes.forEach(KeyGate.Pass::close);
            }
            batch.<X>answerRest(request -> execute(request, BatchCall.alone(action, request), publication, patience));
        } catch (Throwable failure) {
            BatchException.throwIfPartly(batch.outcomes(), requests.size(), failure);
            throw failure;
        }
        return batch.answers();
    }

    /** One attempt; null if a key was taken and there is no original, so that it is worth one more. */
    private <X extends Exception> @Nullable Found<R> attempt(
            Session session, Request request, Action<? super Handle, ? extends R, X> action, boolean again) throws X {
        First<R> first;
        try {
            Session.Work<First<R>, X> work = handle -> records.first(handle, request, action, again);
            first = records.isSingleStatement() ? session.inAutocommit(work) : session.inTransaction(work);
        } catch (Throwable failure) {
            if (failure instanceof IdempotencyException
                    || Attempts.mayRunAgain(failure, database)
                    || !records.mayStemFromRepeat(failure, false)) {
                throw failure;
            }
            Found<R> found = original(session, request, failure);
            if (found != null) {
                return found;
            }
            if (!records.refusedBy(failure)) {
                throw failure;
            }
            if (again && records.otherConstraintsPossible()) {
                failure.addSuppressed(new StoreException(
                        "a constraint refused the insert twice, and the finder found no row under any key of " + request
                                + ": if the constraint is that of a key, the finder does not find its row",
                        null));
                throw failure;
            }
            return null;
        }
        return first.stored(request, records.retention());
    }

    /** As the other one does; where it fails too, the first failure is not hidden. */
    private @Nullable Found<R> original(Session session, Request request, Throwable first) {
        try {
            return original(session, request);
        } catch (RetryableException e) {
            if (records.refusedBy(first)) {
                throw e;
            }
            first.addSuppressed(e);
            return null;
        }
    }

    private @Nullable Found<R> original(Session session, Request request) {
        Found<R> found = session.reading(handle -> records.find(handle, request, false));
        if (found == null || found.unrecorded().isEmpty()) {
            return found;
        }
        return session.inTransaction(handle -> {
            records.addNames(handle, request, found);
            return found.withNamesAdded();
        });
    }

    private static <R extends @Nullable Object> void tell(
            Found<R> found, Publication<? super R> publication, KeyGate.Pass<R> pass) {
        Original<R> original = found.original();
        if (original != null) {
            pass.settle(found.names(), original, found.remaining());
            publication.committed(found.names(), original, found.remaining());
        }
    }

    @Override
    public IdempotencyStore<Handle, R> joining(Handle handle) {
        return new JoinedStore<>(database.dialect(), records, Objects.requireNonNull(handle, "handle"));
    }

    @Override
    public IdempotencyStore<Handle, R> joining(Connection connection) {
        return joining(Jdbi.open(Objects.requireNonNull(connection, "connection")));
    }

    @Override
    public List<String> warnings() {
        return database.warnings();
    }

    @Override
    public @Nullable Duration retention() {
        return records.retention();
    }
}
