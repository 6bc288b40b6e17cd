package dev.idempotency.jdbc;

import dev.idempotency.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/**
 * A database, and how its connections come out of the pool. Looked at once, when a store is made.
 *
 * @param jdbi where connections come from
 * @param dialect which database it is
 * @param autoCommit whether connections come with autocommit on; one that comes without is in somebody's transaction then
 * @param readUncommitted whether connections come at an isolation level that shows what may yet be rolled back
 * @param warnings what weakens the promises of a store on it
 */
record Database(Jdbi jdbi, Dialect dialect, boolean autoCommit, boolean readUncommitted, List<String> warnings) {

    static Database of(Jdbi jdbi) {
        try (Handle handle = jdbi.open()) {
            Connection connection = handle.getConnection();
            Dialect dialect = Dialect.of(connection);
            return new Database(
                    jdbi,
                    dialect,
                    connection.getAutoCommit(),
                    connection.getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED,
                    dialect.waitsForEver(connection)
                            ? List.of(
                                    "the database waits for locks without a limit: a duplicate of a call in another process"
                                            + " waits, with its connection, for as long as that one takes. Set lock_timeout, such as by"
                                            + " options=-c%20lock_timeout=5000 in the URL")
                            : List.of());
        } catch (JdbiException | SQLException e) {
            throw new StoreException("the database could not be reached when the store was made", e);
        }
    }
}
