package dev.idempotency.jdbc;

import java.sql.Connection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;

/**
 * What joined calls must know of the transaction that they are in. It is kept by connection, since a caller may join by
 * several stores and handles, and it goes with the connection. Used by one thread at a time, as the connection is.
 */
final class JoinedTransactions {

    /** Beyond this, no original is taken to be another transaction's any more. Not publishing is always safe. */
    private static final int MOST_REMEMBERED = 10_000;

    private static final Map<Connection, JoinedTransactions> BY_CONNECTION =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final Set<Object> executed = new HashSet<>();
    private boolean dead;

    private JoinedTransactions() {}

    static JoinedTransactions of(Handle handle) {
        return BY_CONNECTION.computeIfAbsent(handle.getConnection(), connection -> new JoinedTransactions());
    }

    boolean isDead() {
        return dead;
    }

    /** Further calls refuse until Jdbi tells that the transaction has ended. */
    void dies(Handle handle) {
        if (dead) {
            return;
        }
        dead = true;
        try {
            handle.afterRollback(() -> dead = false);
            handle.afterCommit(() -> dead = false);
        } catch (IllegalStateException | JdbiException e) {
            // The connection is gone as well: there is nothing left to come back to life.
        }
    }

    /** Remembers a record that is not committed for all that is known. Jdbi's hooks would not tell for certain. */
    void executed(Object identity) {
        if (executed.size() < MOST_REMEMBERED) {
            executed.add(identity);
        }
    }

    /** Whether a record may have been written in the transaction that is still open. */
    boolean hasExecuted(Object identity) {
        return executed.size() >= MOST_REMEMBERED || executed.contains(identity);
    }
}
