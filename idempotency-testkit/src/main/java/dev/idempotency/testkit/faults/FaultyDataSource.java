package dev.idempotency.testkit.faults;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source in front of a real one that writes down what is asked of the database, and can fail on the way there or
 * on the way back.
 *
 * <ol>
 *   <li>Its connections and statements are proxies, as those of many a pool are.
 *   <li>Each call is told to the {@link Fault}, goes to the real connection, and is told again before its result is
 *       returned.
 *   <li>Statements that are executed, commits, rollbacks and savepoints are kept in order, and open connections are counted.
 * </ol>
 *
 * <p>Safe for use by any number of threads.
 */
public final class FaultyDataSource implements DataSource {

    private static final Set<String> OF_INTEREST = Set.of("commit", "rollback", "setSavepoint", "releaseSavepoint");

    private final DataSource real;
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger mostOpen = new AtomicInteger();
    private volatile Fault fault = Fault.none();

    /**
     * In front of a real data source, with no fault.
     *
     * @param real where connections come from
     */
    public FaultyDataSource(DataSource real) {
        this.real = Objects.requireNonNull(real, "real");
    }

    /**
     * From now on, calls on all connections, old and new, suffer this.
     *
     * @param next the fault, in place of the one before
     */
    public void fault(Fault next) {
        fault = Objects.requireNonNull(next, "next");
    }

    /**
     * What the database was asked: the SQL of each statement that was executed, and {@code commit}, {@code rollback}, {@code
     * rollback to savepoint}, {@code setSavepoint} and {@code releaseSavepoint}. A call that a fault kept from the database
     * is one of them; the rollback of a transaction in which nothing was executed is not.
     *
     * @return a snapshot, in order
     */
    public List<String> calls() {
        return List.copyOf(calls);
    }

    /** Forgets all calls, and how many connections were open at most. */
    public void forget() {
        calls.clear();
        mostOpen.set(open.get());
    }

    /**
     * How many connections were open at the same time, at most.
     *
     * @return the number since {@link #forget}
     */
    public int mostConnections() {
        return mostOpen.get();
    }

    /**
     * How many connections are open now.
     *
     * @return the number
     */
    public int openConnections() {
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
            Object result = passedOn(name, connection, method, args);
            return result instanceof Statement statement ? watched(statement, args) : result;
        }

        private @Nullable Object passedOn(String name, Object target, Method method, Object @Nullable [] args)
                throws Throwable {
            fault.before(connection, name);
            Object result = null;
            try {
                result = call(target, method, args);
            } catch (SQLException e) {
                fault.failed(name, e);
            }
            fault.after(connection, name);
            return result;
        }

        /** A prepared statement was given its SQL as it was made; any other gets it when it is executed. */
        private Object watched(Statement statement, Object @Nullable [] made) {
            Class<?> type = statement instanceof CallableStatement
                    ? CallableStatement.class
                    : statement instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
            String prepared = statement instanceof PreparedStatement ? first(made) : "";
            return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
                if (!method.getName().startsWith("execute")) {
                    return call(statement, method, args);
                }
                dirty = true;
                String sql = prepared.isEmpty() ? first(args) : prepared;
                calls.add(sql);
                return passedOn(sql, statement, method, args);
            });
        }
    }

    private static String first(Object @Nullable [] args) {
        return String.valueOf(args == null ? "" : args[0]);
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
