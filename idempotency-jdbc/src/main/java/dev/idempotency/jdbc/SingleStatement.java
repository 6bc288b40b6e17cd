package dev.idempotency.jdbc;

import java.sql.SQLException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlLogger;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that an action in autocommit mode is one statement: a second one would be a second transaction. It hears of
 * statements that go through the handle, and of none in those that go to its connection directly.
 */
final class SingleStatement implements SqlLogger, AutoCloseable {

    private final SqlStatements config;
    private final SqlLogger others;
    private boolean begun;
    private boolean done;
    private @Nullable SQLException failure;

    private SingleStatement(Handle handle) {
        this.config = handle.getConfig(SqlStatements.class);
        this.others = config.getSqlLogger();
    }

    static SingleStatement on(Handle handle) {
        SingleStatement watch = new SingleStatement(handle);
        watch.config.setSqlLogger(watch);
        return watch;
    }

    /** Whether it has succeeded, and so is committed. */
    boolean isDone() {
        return done;
    }

    /** Why it failed, whatever the action has made of that. */
    @Nullable
    SQLException failure() {
        return failure;
    }

    @Override
    public void logBeforeExecution(StatementContext context) {
        if (begun) {
            throw new IllegalStateException("the action runs a second statement, and this store was told by"
                    + " YourTableOptions.singleStatement() that actions are one; leave that option away");
        }
        begun = true;
        others.logBeforeExecution(context);
    }

    @Override
    public void logAfterExecution(StatementContext context) {
        done = true;
        others.logAfterExecution(context);
    }

    @Override
    public void logException(StatementContext context, SQLException e) {
        failure = e;
        others.logException(context, e);
    }

    @Override
    public void close() {
        config.setSqlLogger(others);
    }
}
