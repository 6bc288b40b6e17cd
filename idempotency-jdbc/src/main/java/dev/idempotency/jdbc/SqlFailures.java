package dev.idempotency.jdbc;

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a failure says, by SQLStates and vendor codes and never by a message or a constraint's name. Pools, Jdbi and proxies
 * wrap exceptions, and batches chain them: causes and next exceptions are all looked at.
 */
final class SqlFailures {

    private SqlFailures() {}

    /** SQLState class 23: the insert may have met a key that is taken. Finding the original decides. */
    static boolean violatesConstraint(Throwable failure) {
        return in(failure).stream().anyMatch(e -> hasClass(e, "23"));
    }

    /** Deadlocks, serialization failures and lock time-outs: the whole transaction may be run again. */
    static boolean saysRunAgain(Throwable failure, Dialect dialect) {
        return in(failure).stream().anyMatch(e -> endsTransaction(e, dialect) || saysRunAgain(e, dialect));
    }

    private static boolean saysRunAgain(SQLException e, Dialect dialect) {
        return dialect.rerunStates().contains(state(e)) || dialect.rerunCodes().contains(e.getErrorCode());
    }

    /** The database has rolled the whole transaction back, savepoints and all: SQLState class 40, and some codes. */
    static boolean endsTransaction(SQLException e, Dialect dialect) {
        return (hasClass(e, "40") && !state(e).equals("40003"))
                || dialect.endingCodes().contains(e.getErrorCode());
    }

    /** Class 25: an error before this one has aborted the transaction (PostgreSQL), and nothing of it can be stored. */
    static boolean saysAborted(Throwable failure) {
        return in(failure).stream().anyMatch(e -> hasClass(e, "25"));
    }

    /** The connection is gone, or an operator or a time-out has stopped the statement: classes 08 and 57. */
    static boolean isStopped(Throwable failure) {
        return in(failure).stream().anyMatch(e -> hasClass(e, "08") || hasClass(e, "57"));
    }

    /**
     * Whether an error that a commit ended with proves that nothing was committed: the server itself has answered, with
     * a constraint, a serialization failure, an aborted transaction, or what a deferred trigger raised. Anything else may
     * be the loss of an acknowledgement.
     */
    static boolean provesNotCommitted(Throwable failure, Dialect dialect) {
        if (isStopped(failure)) {
            return false;
        }
        return in(failure).stream()
                .anyMatch(e -> endsTransaction(e, dialect)
                        || saysRunAgain(e, dialect)
                        || hasClass(e, "22")
                        || hasClass(e, "23")
                        || hasClass(e, "25")
                        || hasClass(e, "44")
                        || hasClass(e, "P0"));
    }

    private static boolean hasClass(SQLException e, String sqlStateClass) {
        return state(e).startsWith(sqlStateClass);
    }

    private static String state(SQLException e) {
        return e.getSQLState() == null ? "" : e.getSQLState();
    }

    private static List<SQLException> in(Throwable failure) {
        List<SQLException> found = new ArrayList<>();
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>(List.of(failure));
        while (!open.isEmpty()) {
            Throwable next = open.pop();
            if (!seen.add(next)) {
                continue;
            }
            push(open, next.getCause());
            if (next instanceof SQLException e) {
                found.add(e);
                push(open, e.getNextException());
            }
        }
        return found;
    }

    private static void push(Deque<Throwable> open, @Nullable Throwable failure) {
        if (failure != null) {
            open.push(failure);
        }
    }
}
