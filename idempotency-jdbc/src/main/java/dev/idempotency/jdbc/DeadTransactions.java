package dev.idempotency.jdbc;

import java.sql.Connection;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;

/**
 * Transactions of callers that a joined call has found dead. The next statement in one of them would begin another
 * transaction, without what was done before. Kept by connection, since a caller may join by several stores and handles, for as
 * long as there is the connection.
 */
final class DeadTransactions {

    private static final Set<Connection> DEAD =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private DeadTransactions() {}

    static boolean contains(Handle handle) {
        return DEAD.contains(handle.getConnection());
    }

    /** Until Jdbi tells that the caller has ended it. */
    static void add(Handle handle) {
        Connection connection = handle.getConnection();
        if (!DEAD.add(connection)) {
            return;
        }
        try {
            handle.afterRollback(() -> DEAD.remove(connection));
            handle.afterCommit(() -> DEAD.remove(connection));
        } catch (IllegalStateException | JdbiException e) {
            // The connection is gone as well: there is nothing left to come back to life.
        }
    }
}
