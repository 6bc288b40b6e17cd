package dev.idempotency.jdbc;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source in front of a real one that writes down what is asked of the database, and can fail on the way there or
 * on the way back.
 */
final class ProbedDataSource implements DataSource {

    /** What happens to a call: it may fail before or after the real connection has done it. */
    interface Fault {
        default void before(@Nullable Connection real, String call) throws SQLException {}

        default void after(Connection real, String call) throws SQLException {}

        /** What becomes of the real one's own failure. */
        default void failed(String call, SQLException failure) throws SQLException {
            throw failure;
        }
    }

    private static final Set<String> OF_INTEREST = Set.of("commit", "rollback", "setSavepoint", "releaseSavepoint");

    private final DataSource real;
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger mostOpen = new AtomicInteger();
    private volatile Fault fault = new Fault() {};

    ProbedDataSource(DataSource real) {
        this.real = real;
    }

    void fault(Fault next) {
        fault = next;
    }

    /** SQL of statements, and "commit", "rollback" … in order; a rollback of nothing is not one. */
    List<String> calls() {
        return List.copyOf(calls);
    }

    void forget() {
        calls.clear();
        mostOpen.set(0);
    }

    int mostConnections() {
        return mostOpen.get();
    }

    int openConnections() {
        return open.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        fault.before(null, "getConnection");
        Connection connection = real.getConnection();
        mostOpen.accumulateAndGet(open.incrementAndGet(), Math::max);
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, new Probe(connection));
    }

    private final class Probe implements InvocationHandler {

        private final Connection connection;
        private boolean dirty;
        private boolean closed;

        Probe(Connection connection) {
            this.connection = connection;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
            String name = method.getName();
            if (name.equals("hashCode")) {
                return System.identityHashCode(proxy);
            }
            if (name.equals("equals")) {
                return args != null && proxy == args[0];
            }
            if (name.equals("prepareStatement")) {
                return prepared(args);
            }
            if (name.equals("close") && !closed) {
                closed = true;
                open.decrementAndGet();
            }
            boolean counts = OF_INTEREST.contains(name);
            if (counts && !(name.equals("rollback") && args == null && !dirty)) {
                calls.add(args == null || !name.equals("rollback") ? name : "rollback to savepoint");
            }
            if (args == null && (name.equals("commit") || name.equals("rollback"))) {
                dirty = false;
            }
            fault.before(connection, name);
            Object result = call(connection, method, args);
            fault.after(connection, name);
            return result instanceof Statement statement ? watched(statement, Statement.class) : result;
        }

        private Object prepared(Object @Nullable [] args) throws SQLException {
            String sql = String.valueOf(args == null ? "" : args[0]);
            return watched(connection.prepareStatement(sql), PreparedStatement.class, sql);
        }

        private Object watched(Statement statement, Class<?> type, String... sql) {
            return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
                if (method.getName().startsWith("execute")) {
                    dirty = true;
                    String text = sql.length > 0 ? sql[0] : String.valueOf(args == null ? "" : args[0]);
                    calls.add(text);
                    fault.before(connection, text);
                    Object result = null;
                    try {
                        result = call(statement, method, args);
                    } catch (SQLException e) {
                        fault.failed(text, e);
                    }
                    fault.after(connection, text);
                    return result;
                }
                return call(statement, method, args);
            });
        }
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return real.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        real.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        real.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return real.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return real.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return real.isWrapperFor(type);
    }
}
