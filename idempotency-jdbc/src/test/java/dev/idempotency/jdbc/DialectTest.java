package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mysql.cj.jdbc.MysqlDataSource;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What one database does and the others don't. */
class DialectTest {

    private final Request request = request("m1");
    private final List<IdempotencyKey> published = new ArrayList<>();

    private static Messages postgresql(String... parameters) {
        return new Messages(TestDatabase.POSTGRESQL_14, TestDatabase.POSTGRESQL_14.fresh(parameters));
    }

    private static void fail(Handle handle) {
        try {
            handle.execute("select nothing from nowhere");
        } catch (RuntimeException e) {
            // As actions do that mean well.
        }
    }

    /** Not by Jdbi, which the library would hear of. */
    private static void failUnseen(Handle handle) throws SQLException {
        try (Statement statement = handle.getConnection().createStatement()) {
            statement.execute("select nothing from nowhere");
        } catch (SQLException e) {
            // As above.
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "J-2: PostgreSQL, an action swallows an error: nothing is stored or published, and the caller learns it,"
                    + " also where the driver lets a commit of nothing return normally")
    void postgresql_swallowedError_isTold(boolean driverTells) {
        Messages messages = postgresql("raiseExceptionOnSilentRollback=" + driverTells);
        List<JdbcStore<String>> stores =
                List.of(messages.store(), JdbcStores.transactional(messages.jdbi, Codec.utf8()));

        for (JdbcStore<String> store : stores) {
            assertThatThrownBy(() -> store.execute(
                            request,
                            handle -> {
                                insert(handle, request, "lost");
                                fail(handle);
                                return "lost";
                            },
                            (names, original, remaining) -> published.addAll(names)))
                    .isInstanceOf(StoreException.class)
                    .rootCause()
                    .hasMessageContaining("nowhere");
            messages.jdbi.useTransaction(caller -> assertThatThrownBy(() -> store.joining(caller)
                            .execute(
                                    request,
                                    handle -> {
                                        insert(handle, request, "lost");
                                        fail(handle);
                                        return "lost";
                                    },
                                    (names, original, remaining) -> published.addAll(names)))
                    .isInstanceOf(StoreException.class));
        }

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
        assertThat(messages.store().execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(Executed.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("J-2: PostgreSQL, an error that Jdbi does not hear of is told as well")
    void postgresql_errorSwallowedOnBareConnection_isTold(boolean driverKnows) {
        DataSource real = TestDatabase.POSTGRESQL_14.fresh();
        // A pool that doesn't give its driver away.
        DataSource wrapped = answering(
                DataSource.class,
                real,
                "getConnection",
                () -> answering(Connection.class, real.getConnection(), "unwrap", () -> {
                    throw new SQLException("no");
                }));
        Messages messages = new Messages(TestDatabase.POSTGRESQL_14, driverKnows ? real : wrapped);

        assertThatThrownBy(() -> messages.store()
                        .execute(
                                request,
                                handle -> {
                                    insert(handle, request, "lost");
                                    failUnseen(handle);
                                    return "lost";
                                },
                                (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(StoreException.class);

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("J-2: PostgreSQL, an action that goes back to a savepoint of its own after an error is stored")
    void postgresql_errorUndoneToSavepoint_isStored() {
        Messages messages = postgresql();

        assertThat(messages.store()
                        .execute(
                                request,
                                handle -> {
                                    handle.savepoint("mine");
                                    fail(handle);
                                    handle.rollbackToSavepoint("mine");
                                    return insert(handle, request, "ok");
                                },
                                (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(Executed.class);

        assertThat(published).hasSize(1);
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("J-2, S3: PostgreSQL, an action that swallows the violation of its own key gets the original")
    void postgresql_swallowedViolation_isAReplay() {
        Messages messages = postgresql();
        JdbcStore<String> store = messages.store();
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});

        assertThat(store.execute(
                        request,
                        handle -> {
                            try {
                                return insert(handle, request, "twice");
                            } catch (RuntimeException e) {
                                return "as if it were stored";
                            }
                        },
                        (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
    }

    @Test
    @DisplayName("S3: PostgreSQL, a deferred unique key refuses at the commit, and is read like one at the insert")
    void postgresql_deferredKey_isReadAsConflict() {
        Messages messages = postgresql();
        messages.jdbi.useHandle(handle -> {
            handle.execute("alter table message drop constraint message_sender_message_id_key");
            handle.execute("alter table message add unique (sender, message_id) deferrable initially deferred");
        });
        JdbcStore<String> store = messages.store();
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});

        assertThat(store.execute(request, insert(request, "twice"), (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S5: PostgreSQL, a statement of the library that a time-out stops says to call again")
    void postgresql_statementTimeout_isRetryable() {
        Messages messages = postgresql("options=-c%20statement_timeout=300");
        RecordStore<String> store = JdbcStores.transactional(messages.jdbi, Codec.utf8());

        messages.jdbi.useTransaction(handle -> {
            store.joining(handle).execute(request, insert(request, "first"), (n, o, r) -> {});
            assertThatThrownBy(() -> store.execute(request, insert(request, "second"), (n, o, r) -> {}))
                    .isInstanceOf(RetryableException.class);
        });

        assertThat(messages.rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"MARIADB, true", "MARIADB, false", "MARIADB_SNAPSHOT, true", "MARIADB_SNAPSHOT, false"})
    @DisplayName("J-4: MariaDB, useAffectedRows on and off: the same verdicts")
    void mariadb_useAffectedRows_changesNothing(TestDatabase database, boolean affected) {
        verdicts(new Messages(database, database.fresh("useAffectedRows=" + affected)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("J-4: MariaDB through MySQL's driver is still MariaDB, useAffectedRows on and off")
    void mariadb_throughMysqlDriver_isMariadb(boolean affected) throws SQLException {
        Messages plain = new Messages(TestDatabase.MARIADB);
        MysqlDataSource mysql = new MysqlDataSource();
        try (Connection connection = plain.real.getConnection()) {
            DatabaseMetaData metaData = connection.getMetaData();
            mysql.setUrl(metaData.getURL().replaceAll("\\?.*", "").replace("jdbc:mariadb:", "jdbc:mysql:")
                    + "?user=root&useAffectedRows=" + affected);
        }
        try (Connection connection = mysql.getConnection()) {
            assertThat(connection.getMetaData().getDatabaseProductName()).isEqualTo("MySQL");
            assertThat(Dialect.of(connection)).isSameAs(Dialect.MARIADB);
        }
        verdicts(new Messages(TestDatabase.MARIADB, mysql));
    }

    private static void verdicts(Messages messages) {
        RecordStore<String> library = JdbcStores.transactional(messages.jdbi, Codec.utf8());
        for (JdbcStore<String> store : List.of(messages.store(), library)) {
            Request first = request("first of " + store.getClass()).and(Messages.businessKey("b " + store.getClass()));
            Request retry =
                    request("retry of " + store.getClass()).and(first.keys().get(1));
            assertThat(store.execute(first, insert(first, "ok"), (n, o, r) -> {}))
                    .isEqualTo(new Executed<>("ok"));
            assertThat(store.execute(first, insert(first, "no"), (n, o, r) -> {}))
                    .isEqualTo(new Replayed<>("ok", first.keys().get(0), Source.STORE));
            assertThat(store.execute(retry, insert(retry, "no"), (n, o, r) -> {}))
                    .isEqualTo(new Replayed<>("ok", first.keys().get(1), Source.STORE));
        }
        assertThat(messages.rows()).isEqualTo(2);
        messages.jdbi.useHandle(handle -> handle.execute("update idempotency_record set expires_at = 1"));
        assertThat(library.purge(10)).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(JoinedTransactionTest.Mode.class)
    @DisplayName(
            "S5: MariaDB with innodb_snapshot_isolation undoes the whole transaction with error 1020: run again, also if"
                    + " the action swallows it")
    void mariadb_snapshotConflict_isRunAgain(JoinedTransactionTest.Mode mode) {
        Messages messages = new Messages(TestDatabase.MARIADB_SNAPSHOT);
        JdbcStore<String> store = mode == JoinedTransactionTest.Mode.YOUR_TABLE
                ? messages.store()
                : JdbcStores.transactional(messages.jdbi, Codec.utf8());
        Request other = request("m2");
        AtomicInteger runs = new AtomicInteger();

        assertThat(store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "ok");
                            handle.createQuery("select count(*) from message")
                                    .mapTo(Integer.class)
                                    .one();
                            if (runs.incrementAndGet() == 1) {
                                messages.store().execute(other, insert(other, "newer"), (n, o, r) -> {});
                            }
                            try {
                                handle.execute("update message set body = 'seen' where message_id = 'm2'");
                            } catch (RuntimeException e) {
                                // The insert is gone as well, which this action doesn't know.
                            }
                            return "ok";
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(Executed.class);

        assertThat(runs).hasValue(2);
        assertThat(published).hasSize(1);
        assertThat(messages.rows()).isEqualTo(2);
    }

    @Test
    @DisplayName("An unknown database: no library's table, and yourTable works")
    void unknownDatabase_hasYourTableOnly() {
        Messages messages = new Messages(TestDatabase.H2, renamed());

        assertThatThrownBy(() -> JdbcStores.transactional(messages.jdbi, Codec.utf8()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("yourTable");
        JdbcStore<String> store = JdbcStores.yourTable(
                messages.jdbi,
                Messages::find,
                YourTableOptions.defaults().uniqueKey("message", "sender", "message_id"));
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});

        assertThat(store.execute(request, insert(request, "no"), (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
    }

    /** H2 under a name that nobody knows. */
    static DataSource renamed() {
        DataSource real = TestDatabase.H2.fresh();
        return answering(DataSource.class, real, "getConnection", () -> {
            Connection connection = real.getConnection();
            return answering(
                    Connection.class,
                    connection,
                    "getMetaData",
                    () -> answering(
                            DatabaseMetaData.class,
                            connection.getMetaData(),
                            "getDatabaseProductName",
                            () -> "Unheard of"));
        });
    }

    private static <T> T answering(Class<T> type, T real, String method, Callable<Object> answer) {
        return type.cast(Proxy.newProxyInstance(
                DialectTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, called, args) -> {
                    if (called.getName().equals(method)) {
                        return answer.call();
                    }
                    try {
                        return called.invoke(real, args);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                }));
    }
}
