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

    /** H2's own: the connection is broken, the object or the database is closed. */
    private static final Set<String> LOST_ON_H2 = Set.of("90007", "90067", "90098", "90121");

    /** Of class 23, what is never a key that is taken: not null, foreign keys, checks. */
    private static final Set<String> NO_KEYS = Set.of("23502", "23503", "23506", "23507", "23513", "23514");

    /** SQLState class 23: the insert may have met a key that is taken. Finding the original decides. */
    static boolean violatesConstraint(Throwable failure) {
        return in(failure).stream().anyMatch(e -> hasClass(e, "23") && !NO_KEYS.contains(state(e)));
    }

    /** Deadlocks, serialization failures and lock time-outs: the whole transaction may be run again. */
    static boolean saysRunAgain(Throwable failure, Dialect dialect) {
        return in(failure).stream().anyMatch(e -> endsTransaction(e, dialect) || saysRunAgain(e, dialect));
    }

    /** One of the failure's causes has ended the transaction. */
    static boolean endsTransaction(Throwable failure, Dialect dialect) {
        return in(failure).stream().anyMatch(e -> endsTransaction(e, dialect));
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

    /** The connection is gone, or an operator or a time-out has stopped the statement. */
    static boolean isStopped(Throwable failure) {
        return in(failure).stream()
                .anyMatch(e -> hasClass(e, "08") || hasClass(e, "57") || LOST_ON_H2.contains(state(e)));
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

    /**
     * Whether a failure of one statement may be the loss of its acknowledgement, and not the database's own answer, which
     * has a SQLState that says something, or a vendor's code.
     */
    static boolean mayBeLoss(Throwable failure) {
        return isStopped(failure)
                || in(failure).stream()
                        .anyMatch(e -> (state(e).isEmpty() || hasClass(e, "HY")) && e.getErrorCode() <= 0);
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
