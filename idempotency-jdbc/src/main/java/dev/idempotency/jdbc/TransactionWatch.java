package dev.idempotency.jdbc;

import java.sql.Connection;
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
 *       stores nothing, and may return as if it had. If an error was seen, and only then, a savepoint asks how things are.
 * </ul>
 *
 * <p>It sees statements that go through the handle, and none that go to its connection directly.
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

    /** Throws if the transaction has ended under an action that returned as if it had not. */
    void check() {
        if (ended != null) {
            throw StatementFailure.of(ended);
        }
        if (last != null && isAborted()) {
            throw StatementFailure.of(last);
        }
    }

    private boolean isAborted() {
        Connection connection = handle.getConnection();
        try {
            connection.releaseSavepoint(connection.setSavepoint());
            return false;
        } catch (SQLException e) {
            // Whatever else may be wrong, the commit will tell.
            return SqlFailures.saysAborted(e);
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
