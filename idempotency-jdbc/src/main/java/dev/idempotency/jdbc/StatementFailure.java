package dev.idempotency.jdbc;

import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A statement of the library itself failed, or one whose failure the action has kept to itself. */
final class StatementFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean keyTaken;

    private StatementFailure(Exception cause, boolean keyTaken) {
        super(cause.getMessage(), cause, false, false);
        this.keyTaken = keyTaken;
    }

    static StatementFailure of(Exception cause) {
        return new StatementFailure(cause, false);
    }

    /** An insert of keys failed; if by a violation, then at least one of them is taken. */
    static StatementFailure ofInsert(Exception cause) {
        return new StatementFailure(cause, SqlFailures.violatesConstraint(cause));
    }

    /** An original went away between being read and being copied; the next attempt finds out. */
    static StatementFailure originalGone() {
        return new StatementFailure(new SQLException("the original is there no more"), true);
    }

    /** Whether a failure is that of an insert of the library whose key is taken. */
    static boolean saysKeyTaken(Throwable failure) {
        return failure instanceof StatementFailure statement && statement.keyTaken;
    }

    /** What a caller is to know of a failure of the library's own statement; null if the failure is not one. */
    static @Nullable RuntimeException translated(Throwable failure) {
        if (!(failure instanceof StatementFailure)) {
            return null;
        }
        return SqlFailures.isStopped(failure)
                ? new RetryableException(
                        "the connection or a statement was stopped before anything was stored; call again",
                        failure.getCause())
                : new StoreException(
                        "a statement failed, and nothing was stored; the cause says why", failure.getCause());
    }
}
