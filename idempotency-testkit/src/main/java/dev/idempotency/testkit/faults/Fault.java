package dev.idempotency.testkit.faults;

import java.lang.reflect.UndeclaredThrowableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What happens to the calls that go through a {@link FaultyDataSource}. A call has a name: the SQL of a statement that is
 * executed, or the name of a method of {@link Connection} such as {@code commit}, {@code rollback} or {@code setSavepoint},
 * or {@code getConnection}.
 *
 * <p>Called by whatever threads use the connections, at once. What is thrown reaches the caller as if the driver had thrown
 * it; it may be unchecked.
 */
public interface Fault {

    /**
     * The call is about to be passed on. Whoever throws here makes it fail with nothing done.
     *
     * @param real the connection that it goes to; null if there is none yet
     * @param call its name
     * @throws SQLException to make it fail
     */
    default void before(@Nullable Connection real, String call) throws SQLException {}

    /**
     * The database has done it. Whoever throws here drops the acknowledgement.
     *
     * @param real the connection that it went to
     * @param call its name
     * @throws SQLException to make it fail nevertheless
     */
    default void after(Connection real, String call) throws SQLException {}

    /**
     * The database has refused it.
     *
     * @param call its name
     * @param failure why
     * @throws SQLException what becomes of that; a fault that throws nothing makes the call return null
     */
    default void failed(String call, SQLException failure) throws SQLException {
        throw failure;
    }

    /**
     * Nothing fails.
     *
     * @return a fault that is none
     */
    static Fault none() {
        return new Fault() {};
    }

    /**
     * The first call of a kind fails before it has reached the database.
     *
     * @param calls which calls, by name
     * @param failure what is thrown
     * @return a fault that happens once
     */
    static Fault before(Predicate<String> calls, SQLException failure) {
        AtomicBoolean happened = new AtomicBoolean();
        return new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) throws SQLException {
                if (calls.test(call) && !happened.getAndSet(true)) {
                    throw failure;
                }
            }
        };
    }

    /**
     * The first call of a kind is done by the database, and its acknowledgement gets lost.
     *
     * @param calls which calls, by name
     * @param failure what is thrown
     * @return a fault that happens once
     */
    static Fault after(Predicate<String> calls, SQLException failure) {
        AtomicBoolean happened = new AtomicBoolean();
        return new Fault() {
            @Override
            public void after(Connection real, String call) throws SQLException {
                if (calls.test(call) && !happened.getAndSet(true)) {
                    throw failure;
                }
            }
        };
    }

    /**
     * The connection is cut while the first call of a kind is under way: the database may do it, or not, and nobody is told.
     *
     * @param calls which calls, by name
     * @return a fault that happens once, with SQLState 08006
     */
    static Fault during(Predicate<String> calls) {
        return new CutConnection(calls);
    }

    /**
     * All failures come as pools and proxies hand them on that declare none: inside an unchecked exception.
     *
     * @return a fault that lets everything through but the type of a failure
     */
    static Fault wrapping() {
        return new Fault() {
            @Override
            public void failed(String call, SQLException failure) {
                throw new UndeclaredThrowableException(failure);
            }
        };
    }
}
