package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.RetryableException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The table in {@code docs/guarantees.md}: what a repeat gets in a transaction of the caller, at each level. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class IsolationTest {

    private static final List<TransactionIsolationLevel> LEVELS = List.of(
            TransactionIsolationLevel.READ_COMMITTED,
            TransactionIsolationLevel.REPEATABLE_READ,
            TransactionIsolationLevel.SERIALIZABLE);

    private final TestDatabase database;
    private final Jdbi jdbi;

    IsolationTest(TestDatabase database) {
        this.database = database;
        Messages messages = new Messages(database);
        jdbi = Jdbi.create(() -> {
            Connection connection = messages.real.getConnection();
            if (readsLock()) {
                try (Statement statement = connection.createStatement()) {
                    // Nobody here waits for a lock that will be given.
                    statement.execute("set innodb_lock_wait_timeout = 0");
                }
            }
            return connection;
        });
    }

    @Test
    @DisplayName("S6: the library's table")
    void libraryTable() {
        // Only MariaDB's locking read passes by the snapshot.
        boolean passesBySnapshot = database == TestDatabase.MARIADB;
        assertThat(observed("idempotency_record", JdbcStores.transactional(jdbi, Codec.utf8())))
                .isEqualTo(expected("idempotency_record", passesBySnapshot));
    }

    @Test
    @DisplayName("S6: an own table whose finder locks the row")
    void ownTableWithLockingFinder() {
        boolean passesBySnapshot = database == TestDatabase.MARIADB;
        JdbcStore<String> store =
                JdbcStores.yourTable(jdbi, (handle, key) -> Messages.find(handle, key, " for update"));
        assertThat(observed("message", store)).isEqualTo(expected("message", passesBySnapshot));
    }

    @Test
    @DisplayName("S6: an own table whose finder does not lock")
    void ownTableWithPlainFinder() {
        assertThat(observed("message", JdbcStores.yourTable(jdbi, Messages::find)))
                .isEqualTo(expected("message", false));
    }

    private boolean readsLock() {
        return database == TestDatabase.MARIADB || database == TestDatabase.MARIADB_SNAPSHOT;
    }

    private Map<String, String> expected(String table, boolean passesBySnapshot) {
        Map<String, String> expected = new TreeMap<>();
        for (TransactionIsolationLevel level : LEVELS) {
            boolean snapshot = level != TransactionIsolationLevel.READ_COMMITTED;
            expected.put(level + ", nothing read before", "replay");
            expected.put(level + ", " + table + " read before", snapshot && !passesBySnapshot ? "run again" : "replay");
        }
        if (readsLock()) {
            // There each read of a serializable transaction locks what it reads, and the original can't be stored.
            expected.put("SERIALIZABLE, " + table + " read before", "executed");
        }
        return expected;
    }

    private Map<String, String> observed(String table, JdbcStore<String> store) {
        Map<String, String> observed = new TreeMap<>();
        for (TransactionIsolationLevel level : LEVELS) {
            for (String read : List.of("nothing", table)) {
                observed.put(level + ", " + read + " read before", jdbi.withHandle(handle -> {
                    handle.setTransactionIsolationLevel(level);
                    handle.begin();
                    if (read.equals(table)) {
                        handle.createQuery("select count(*) from " + table)
                                .mapTo(Integer.class)
                                .one();
                    }
                    try {
                        return answer(store, request(level + read), handle);
                    } finally {
                        handle.rollback();
                    }
                }));
            }
        }
        return observed;
    }

    /** Another transaction stores the original, while that of the handle is open. */
    private static String answer(JdbcStore<String> store, Request request, Handle handle) {
        try {
            store.execute(request, insert(request, "ok"), (n, o, r) -> {});
        } catch (RetryableException e) {
            assertThat(store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                    .isInstanceOf(Executed.class);
            return "executed";
        }
        try {
            assertThat(store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}))
                    .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
            return "replay";
        } catch (RetryTransactionException e) {
            return "run again";
        }
    }
}
