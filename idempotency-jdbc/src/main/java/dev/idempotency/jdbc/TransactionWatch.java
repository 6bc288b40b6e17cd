package dev.idempotency.jdbc;

import dev.idempotency.OutcomeUnknownException;
import java.sql.SQLException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlLogger;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * Sees errors that end a transaction although the action swallows them.
 *
 * <ul>
 *   <li>After a deadlock the database has undone the whole transaction; what the action does then would start a new one and
 *       commit without the rest.
 *   <li>On PostgreSQL any error aborts the transaction, unless the action goes back to a savepoint of its own; a commit then
 *       stores nothing, and returns as if it had.
 * </ul>
 *
 * <p>It hears of errors in statements that go through the handle, and of none in those that go to its connection directly;
 * that a transaction is aborted is seen in either case.
 */
final class TransactionWatch implements SqlLogger, AutoCloseable {

    private final Handle handle;
    private final Dialect dialect;
    private final SqlStatements config;
    private final SqlLogger others;
    private @Nullable SQLException ended;
    private @Nullable SQLException last;

    private TransactionWatch(Handle handle, Dialect dialect) {
        this.handle = handle;
        this.dialect = dialect;
        this.config = handle.getConfig(SqlStatements.class);
        this.others = config.getSqlLogger();
    }

    static TransactionWatch on(Handle handle, Dialect dialect) {
        TransactionWatch watch = new TransactionWatch(handle, dialect);
        watch.config.setSqlLogger(watch);
        return watch;
    }

    /** What is done while this watches. */
    @FunctionalInterface
    interface Work<T extends @Nullable Object, X extends Exception> {
        T run() throws X;
    }

    /** Does the work, and throws if the transaction has ended under an action that returned as if it had not. */
    <T extends @Nullable Object, X extends Exception> T over(Work<T, X> work) throws X {
        T result;
        try {
            result = work.run();
        } catch (OutcomeUnknownException e) {
            // The library has found its own rows gone; here is why.
            check();
            throw e;
        }
        check();
        return result;
    }

    private void check() {
        if (ended != null) {
            throw StatementFailure.of(ended);
        }
        // An action that has ended the transaction by itself is told so elsewhere.
        if ((last != null || dialect.errorsAbort()) && handle.isInTransaction()) {
            SQLException aborted = AbortedTransaction.error(handle.getConnection());
            if (aborted != null) {
                throw StatementFailure.of(last != null ? last : aborted);
            }
        }
    }

    @Override
    public void logBeforeExecution(StatementContext context) {
        others.logBeforeExecution(context);
    }

    @Override
    public void logAfterExecution(StatementContext context) {
        others.logAfterExecution(context);
    }

    @Override
    public void logException(StatementContext context, SQLException failure) {
        if (SqlFailures.endsTransaction(failure, dialect)) {
            ended = failure;
        }
        // The first error says why; those after it say that it was there.
        if (last == null || !SqlFailures.saysAborted(failure)) {
            last = failure;
        }
        others.logException(context, failure);
    }

    @Override
    public void close() {
        config.setSqlLogger(others);
    }
}
