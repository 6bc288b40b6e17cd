package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyStore;
import java.sql.Connection;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * A store in a database. As it is, it begins and commits a transaction of its own for each call, on a connection of its
 * own, and never slips into one that is already open.
 *
 * @param <R> the response
 */
public interface JdbcStore<R extends @Nullable Object> extends IdempotencyStore<Handle, R> {

    /**
     * The same records, for calls inside a transaction that the caller has opened and will commit: {@code
     * sends.using(store.joining(handle)).execute(request, action)}.
     *
     * <ul>
     *   <li>It takes no second connection, never waits for other calls in this process, and neither commits nor rolls
     *       back. An action that fails, and a repeat, are undone to a savepoint, and the transaction goes on.
     *   <li>What it executes is not published to the window, since the commit is not its to see; {@link
     *       dev.idempotency.Idempotency#remember remember} it after the commit.
     *   <li>Where the transaction can't go on, or its snapshot is older than the original, it throws {@link
     *       dev.idempotency.RetryTransactionException}: roll back and run the whole transaction again. After that, further
     *       joined calls in this transaction refuse, until it is rolled back.
     * </ul>
     *
     * <p>{@code execute} throws {@link IllegalStateException} if the handle is in no transaction.
     *
     * @param handle a handle in a transaction, used by one thread at a time
     * @return a store for this handle alone, not to be kept beyond the transaction
     */
    IdempotencyStore<Handle, R> joining(Handle handle);

    /**
     * As {@link #joining(Handle)}, for a transaction of plain JDBC, or of a framework that gives its connection away.
     *
     * <p>The action and the finder are handed a handle around this connection, which nobody needs to close. It knows
     * nothing of the plugins and mappers of a Jdbi that the store was made with; where they are needed, join with a handle.
     *
     * <p>{@code execute} throws {@link IllegalStateException} if the connection is in autocommit mode.
     *
     * @param connection a connection in a transaction, used by one thread at a time
     * @return a store for this connection alone, not to be kept beyond the transaction
     */
    IdempotencyStore<Handle, R> joining(Connection connection);
}
