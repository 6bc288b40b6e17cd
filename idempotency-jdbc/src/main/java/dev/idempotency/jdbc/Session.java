package dev.idempotency.jdbc;

import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.RetryableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;

/**
 * One connection on which the library itself begins, commits and rolls back. What Jdbi does for this by itself is not
 * enough: it would take part in a transaction that is open already, and reports a commit as failed when somebody's
 * callback after it throws.
 *
 * <ul>
 *   <li>A commit counts as done once the connection has committed, whatever callbacks and the pool do after that.
 *   <li>An action that ends the transaction through its handle is found out: what follows would commit without what it
 *       has undone.
 *   <li>A commit that ends in an error which does not prove the opposite is unknown.
 *   <li>A connection whose rollback fails is aborted: turning autocommit on again would commit, and a pool might hand it
 *       on with the transaction in it.
 * </ul>
 */
final class Session implements AutoCloseable {

    private final Database database;
    private final Handle handle;
    private final Connection connection;
    private boolean broken;

    private Session(Database database, Handle handle) {
        this.database = database;
        this.handle = handle;
        this.connection = handle.getConnection();
    }

    /** What to do in a transaction. */
    @FunctionalInterface
    interface Work<T extends @Nullable Object, X extends Exception> {
        T with(Handle handle) throws X;
    }

    static Session open(Database database) {
        Handle handle;
        try {
            handle = database.jdbi().open();
        } catch (JdbiException e) {
            throw new RetryableException("no connection could be had, so nothing was stored; call again later", e);
        }
        Session session = new Session(database, handle);
        try {
            if (database.autoCommit() && !session.connection.getAutoCommit()) {
                throw new IllegalStateException("the connection is inside a transaction that somebody else has opened:"
                        + " let the store have connections of its own, and use joining(handle) to take part in a"
                        + " transaction");
            }
            if (database.readUncommitted()) {
                session.connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            return session;
        } catch (SQLException e) {
            session.close();
            throw new RetryableException("the connection failed before anything was stored; call again", e);
        } catch (RuntimeException e) {
            session.close();
            throw e;
        }
    }

    <T extends @Nullable Object, X extends Exception> T inTransaction(Work<T, X> work) throws X {
        TransactionEnd end = begin();
        T result;
        try (TransactionWatch watch = TransactionWatch.on(handle, database.dialect())) {
            result = watch.over(() -> work.with(handle));
        } catch (Throwable e) {
            rollback(e);
            throw e;
        }
        if (end.committed || end.rolledBack) {
            broken = true;
            throw new OutcomeUnknownException(
                    "the action ended the transaction that it was given, and what it did may be stored or not: an action must"
                            + " neither commit nor roll back",
                    null);
        }
        commit(end);
        return result;
    }

    /**
     * Runs one statement as a transaction of its own. Where connections come with autocommit on, that saves the trips to
     * begin and to commit it; an error of the statement is then one of its commit as well.
     *
     * @throws SQLException if the statement failed and has changed nothing
     */
    <T extends @Nullable Object> T inOneStatement(Work<T, SQLException> statement) throws SQLException {
        if (!database.autoCommit()) {
            return inTransaction(statement);
        }
        try {
            return statement.with(handle);
        } catch (SQLException e) {
            acknowledged(e);
            throw e;
        }
    }

    /**
     * Runs an action that is one statement as a transaction of its own, as {@link #inOneStatement} does.
     *
     * @throws OutcomeUnknownException if the statement was not acknowledged, or the action failed after it had been
     * @throws X what the action threw, with nothing stored
     */
    <T extends @Nullable Object, X extends Exception> T inAutocommit(Work<T, X> action) throws X {
        if (!database.autoCommit()) {
            return inTransaction(action);
        }
        try (SingleStatement watch = SingleStatement.on(handle)) {
            T result;
            try {
                result = action.with(handle);
            } catch (Throwable e) {
                if (YourTable.isAlreadyStored(e)) {
                    throw e;
                }
                if (watch.isDone()) {
                    throw new OutcomeUnknownException(
                            "the action failed after its one statement had been committed; call again with the same key to"
                                    + " find out what is stored",
                            e);
                }
                acknowledged(e);
                throw e;
            }
            if (handle.isInTransaction()) {
                IllegalStateException open = new IllegalStateException(
                        "the action has begun a transaction and not ended it, so nothing is stored; this store was told by"
                                + " YourTableOptions.singleStatement() that actions are one statement");
                rollback(open);
                throw open;
            }
            SQLException failure = watch.failure();
            if (failure != null && !watch.isDone()) {
                acknowledged(failure);
                throw StatementFailure.of(failure);
            }
            return result;
        }
    }

    /** Throws if a statement's failure may be the loss of its acknowledgement. */
    private void acknowledged(Throwable failure) {
        if (SqlFailures.mayBeLoss(failure) && !SqlFailures.provesNotCommitted(failure, database.dialect())) {
            broken = true;
            throw new OutcomeUnknownException(
                    "a statement was not acknowledged: what it changes may be stored or not", failure);
        }
    }

    private TransactionEnd begin() {
        TransactionEnd end = new TransactionEnd();
        try {
            handle.begin();
            handle.afterCommit(() -> end.committed = true);
            handle.afterRollback(() -> end.rolledBack = true);
            return end;
        } catch (JdbiException e) {
            broken = true;
            throw new RetryableException("no transaction could be begun, so nothing was stored; call again", e);
        }
    }

    /** Reads on this connection in a transaction of its own, after one that was rolled back. */
    <T extends @Nullable Object> T reading(Function<Handle, T> work) {
        if (broken) {
            throw new RetryableException("the connection failed before anything was stored; call again", null);
        }
        try {
            return work.apply(handle);
        } finally {
            if (!database.autoCommit()) {
                rollbackConnection(null);
            }
        }
    }

    private void commit(TransactionEnd end) {
        try {
            handle.commit();
        } catch (Throwable e) {
            if (end.committed) {
                System.getLogger("dev.idempotency")
                        .log(System.Logger.Level.WARNING, "what comes after a commit failed; the commit is done", e);
            } else if (SqlFailures.provesNotCommitted(e, database.dialect())) {
                if (SqlFailures.saysAborted(e) && e.getCause() instanceof SQLException aborted) {
                    throw StatementFailure.of(aborted);
                }
                throw e;
            } else {
                broken = true;
                throw new OutcomeUnknownException(
                        "the commit was not acknowledged: it may be stored or not; call again with the same key to find"
                                + " out",
                        e);
            }
        }
    }

    private void rollback(Throwable because) {
        if (rollbackConnection(because)) {
            try {
                // Ends the transaction for Jdbi too: its callbacks, its own state, and autocommit as it was.
                handle.rollback();
            } catch (Throwable e) {
                // Somebody's callback, too, may fail here.
                if (e != because) {
                    because.addSuppressed(e);
                }
            }
        }
    }

    private boolean rollbackConnection(@Nullable Throwable because) {
        try {
            connection.rollback();
            return true;
        } catch (SQLException e) {
            broken = true;
            if (because != null) {
                because.addSuppressed(e);
            }
            return false;
        }
    }

    @Override
    public void close() {
        if (broken) {
            abort();
        }
        try {
            if (!broken && database.readUncommitted()) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
            }
            handle.close();
        } catch (SQLException | JdbiException e) {
            // The outcome is decided by now, and what does not close is the pool's to drop.
            closeQuietly();
        }
    }

    /** Ends the driver's own connection. Only to close a pool's would let it hand on one that is still in its transaction. */
    private void abort() {
        try {
            Connection driver = connection.unwrap(Connection.class);
            driver.abort(Runnable::run);
            driver.close();
        } catch (SQLException | RuntimeException e) {
            // What can't be aborted can still be closed.
        }
        closeQuietly();
    }

    private void closeQuietly() {
        try {
            connection.close();
        } catch (SQLException e) {
            // As above.
        }
    }

    /** How the transaction has ended, by callbacks of Jdbi that run before all others. */
    private static final class TransactionEnd {
        boolean committed;
        boolean rolledBack;
    }
}
