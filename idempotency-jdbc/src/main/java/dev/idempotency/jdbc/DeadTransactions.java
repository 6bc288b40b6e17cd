package dev.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Transactions of callers that a joined call has found dead. The next statement in one of them would begin another
 * transaction, without what was done before. Kept by connection, since a caller may join by several stores and handles, for as
 * long as there is the connection.
 *
 * <p>Nobody tells when the caller ends its transaction, by whatever call. So a dead one is marked with a savepoint, which
 * goes away with it; one in which no savepoint can be set any more is over when one can be set again.
 */
final class DeadTransactions {

    private static final Map<Connection, Optional<Savepoint>> DEAD = Collections.synchronizedMap(new WeakHashMap<>());

    private DeadTransactions() {}

    /**
     * Marks a transaction as dead.
     *
     * @param gone whether the database has undone all of it, and not just the statement that failed
     */
    static void add(Connection connection, Dialect dialect, boolean gone) {
        forgetClosed();
        if (DEAD.containsKey(connection)) {
            return;
        }
        if (gone && dialect.beginsLate()) {
            begin(connection);
        }
        DEAD.put(connection, Optional.ofNullable(savepoint(connection)));
    }

    /** H2's savepoints know their connection, which would then never be let go. */
    private static void forgetClosed() {
        synchronized (DEAD) {
            DEAD.keySet().removeIf(DeadTransactions::isClosed);
        }
    }

    private static boolean isClosed(Connection connection) {
        try {
            return connection.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    /** Connections that are marked. */
    static int size() {
        return DEAD.size();
    }

    private static void begin(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("START TRANSACTION");
        } catch (SQLException e) {
            // Then no savepoint can be set either.
        }
    }

    /** Whether the connection is still in the transaction that was found dead. */
    static boolean contains(Connection connection) {
        Optional<Savepoint> mark = DEAD.get(connection);
        if (mark == null) {
            return false;
        }
        // On PostgreSQL, to ask in vain for the mark would abort a new transaction; back to this savepoint it would
        // not.
        Savepoint probe = savepoint(connection);
        if (probe == null) {
            return true;
        }
        boolean dead = mark.isPresent() && backTo(connection, mark.get());
        if (!dead) {
            DEAD.remove(connection);
            backTo(connection, probe);
            release(connection, probe);
        }
        return dead;
    }

    private static @Nullable Savepoint savepoint(Connection connection) {
        try {
            return connection.setSavepoint();
        } catch (SQLException e) {
            return null;
        }
    }

    private static boolean backTo(Connection connection, Savepoint savepoint) {
        try {
            connection.rollback(savepoint);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private static void release(Connection connection, Savepoint savepoint) {
        try {
            connection.releaseSavepoint(savepoint);
        } catch (SQLException e) {
            // It goes with the transaction.
        }
    }
}
