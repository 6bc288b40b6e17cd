package dev.idempotency.jdbc;

/**
 * Thrown by an action on the user's own table that prefers {@code INSERT … ON CONFLICT DO NOTHING}, when no row was
 * inserted. It stands for the violation of the unique key: the store rolls back and reads the original. On PostgreSQL
 * this way logs no error in the server and aborts nothing.
 */
public final class AlreadyStored extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Says that the insert found its key taken. */
    public AlreadyStored() {
        super("the unique key is taken", null, false, false);
    }
}
