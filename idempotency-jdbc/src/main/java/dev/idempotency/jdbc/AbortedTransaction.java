package dev.idempotency.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Asks whether an error has aborted the transaction, as any error does on PostgreSQL. A commit stores nothing then, and the
 * driver returns from it as if it had.
 *
 * <p>PostgreSQL's driver knows the state from the server's last answer. It is asked by reflection, since this module does
 * not need that driver; if it can't be asked, a savepoint finds out, at the cost of two statements.
 */
final class AbortedTransaction {

    private static final ClassValue<Optional<Method>> STATE = new ClassValue<>() {
        @Override
        protected Optional<Method> computeValue(Class<?> driver) {
            try {
                return Optional.of(driver.getMethod("getTransactionState"));
            } catch (NoSuchMethodException e) {
                return Optional.empty();
            }
        }
    };

    private AbortedTransaction() {}

    /** What the database says of an aborted transaction, with the error that has aborted it as the cause; null if it isn't. */
    static @Nullable SQLException error(Connection connection) {
        if (driverSaysNo(connection)) {
            return null;
        }
        try {
            connection.releaseSavepoint(connection.setSavepoint());
            return null;
        } catch (SQLException e) {
            // Whatever else may be wrong, the commit will tell.
            return SqlFailures.saysAborted(e) ? e : null;
        }
    }

    private static boolean driverSaysNo(Connection connection) {
        try {
            Connection driver = connection.unwrap(Connection.class);
            Optional<Method> state = STATE.get(driver.getClass());
            return state.isPresent() && "OPEN".equals(String.valueOf(state.get().invoke(driver)));
        } catch (SQLException | ReflectiveOperationException | RuntimeException e) {
            return false;
        }
    }
}
