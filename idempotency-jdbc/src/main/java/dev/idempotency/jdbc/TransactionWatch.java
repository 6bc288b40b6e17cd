package dev.idempotency.jdbc;

import java.sql.SQLException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlLogger;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * Sees errors that end a transaction although the action swallows them. After a deadlock the database has undone the
 * whole transaction; what the action does then would start a new one and commit without the rest.
 *
 * <p>It sees statements that go through the handle, and none that go to its connection directly.
 */
final class TransactionWatch implements SqlLogger, AutoCloseable {

    private final SqlStatements config;
    private final SqlLogger others;
    private @Nullable SQLException ended;

    private TransactionWatch(SqlStatements config) {
        this.config = config;
        this.others = config.getSqlLogger();
    }

    static TransactionWatch on(Handle handle) {
        TransactionWatch watch = new TransactionWatch(handle.getConfig(SqlStatements.class));
        watch.config.setSqlLogger(watch);
        return watch;
    }

    /** Throws if the transaction has ended under an action that returned as if it had not. */
    void check() {
        if (ended != null) {
            throw StatementFailure.of(ended);
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
        if (SqlFailures.endsTransaction(failure)) {
            ended = failure;
        }
        others.logException(context, failure);
    }

    @Override
    public void close() {
        config.setSqlLogger(others);
    }
}
