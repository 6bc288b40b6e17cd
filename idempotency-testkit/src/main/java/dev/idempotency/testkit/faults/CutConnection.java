package dev.idempotency.testkit.faults;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Closes the connection from another thread while a call is under way on it; only the first call of its kind. */
final class CutConnection implements Fault {

    private final Predicate<String> calls;
    private @Nullable String cut;
    private @Nullable Connection connection;

    CutConnection(Predicate<String> calls) {
        this.calls = calls;
    }

    @Override
    public synchronized void before(@Nullable Connection real, String call) {
        if (real == null || cut != null || !calls.test(call)) {
            return;
        }
        cut = call;
        connection = real;
        Thread thread = new Thread(() -> close(real), "connection-cutter");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void after(Connection real, String call) throws SQLException {
        if (isCut(real, call)) {
            throw new SQLException("the connection was cut", "08006");
        }
    }

    @Override
    public void failed(String call, SQLException failure) throws SQLException {
        if (isCut(null, call)) {
            throw new SQLException("the connection was cut", "08006", failure);
        }
        throw failure;
    }

    private synchronized boolean isCut(@Nullable Connection real, String call) {
        return call.equals(cut) && (real == null || real == connection);
    }

    private static void close(Connection real) {
        try {
            real.abort(Runnable::run);
            real.close();
        } catch (SQLException e) {
            // It is gone, which is all that is wanted.
        }
    }
}
