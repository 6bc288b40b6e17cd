package dev.idempotency.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Action;
import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.RetryableException;
import dev.idempotency.testkit.StoreFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.Update;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jspecify.annotations.Nullable;

/**
 * A database with a table of effects that has a unique key for each namespace of the contract, and a pool whose connections
 * have one isolation level. Made once for each kind, and emptied for each test.
 */
final class ContractDatabase {

    private static final Map<String, ContractDatabase> BY_KIND = new ConcurrentHashMap<>();

    final Jdbi jdbi;
    private final TransactionIsolationLevel isolation;

    private ContractDatabase(TestDatabase database, TransactionIsolationLevel isolation) {
        this.isolation = isolation;
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.fresh());
        config.setMaximumPoolSize(10);
        config.setTransactionIsolation("TRANSACTION_" + isolation);
        jdbi = Jdbi.create(new HikariDataSource(config));
        StringBuilder columns = new StringBuilder();
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < StoreFixture.NAMESPACES.size(); i++) {
            columns.append(", scope%1$d KEY(191), id%1$d KEY(255)".formatted(i));
            keys.append(", unique (scope%1$d, id%1$d)".formatted(i));
        }
        String table = " (row_id IDENTITY, fingerprint BYTES, response TEXT" + columns;
        jdbi.useHandle(handle -> {
            handle.execute(database.sql("create table effect" + table + keys + ")"));
            // The same columns without the keys, where the library's table is what stops a repeat.
            handle.execute(database.sql("create table unguarded" + table + ")"));
        });
        transactional();
    }

    static ContractDatabase empty(TestDatabase database, TransactionIsolationLevel isolation) {
        ContractDatabase made =
                BY_KIND.computeIfAbsent(database + " " + isolation, kind -> new ContractDatabase(database, isolation));
        made.jdbi.useHandle(handle -> {
            for (String table : List.of("effect", "unguarded", "idempotency_record")) {
                handle.execute("delete from " + table);
            }
            if (database == TestDatabase.MARIADB || database == TestDatabase.MARIADB_SNAPSHOT) {
                // Until rows that were deleted are gone for good, an insert locks the gaps beside them, and others
                // wait.
                handle.execute("set global innodb_max_purge_lag_wait = 0");
            }
        });
        return made;
    }

    JdbcStore<@Nullable String> yourTable() {
        return yourTable((handle, key) -> find(handle, key, ""));
    }

    /** With a finder that locks the row, which shows what is newer than the caller's snapshot. */
    JdbcStore<@Nullable String> yourTableLocking() {
        return yourTable((handle, key) -> find(handle, key, " for update"));
    }

    private JdbcStore<@Nullable String> yourTable(FindOriginal<@Nullable String> finder) {
        YourTableOptions options = YourTableOptions.defaults().waitAtMost(Duration.ofSeconds(10));
        for (int i = 0; i < StoreFixture.NAMESPACES.size(); i++) {
            options = options.uniqueKey("effect", "scope" + i, "id" + i);
        }
        return JdbcStores.yourTable(jdbi, finder, options);
    }

    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    RecordStore<@Nullable String> transactional() {
        return JdbcStores.transactional(
                jdbi, Codec.utf8(), RecordTableOptions.defaults().waitAtMost(Duration.ofSeconds(10)));
    }

    /**
     * Each call in a transaction that a caller opens and commits, or rolls back if the call fails. At SERIALIZABLE a
     * database may say at any time, and at the commit too, that a transaction has to be run again, though nobody wants the
     * same keys; whoever chooses that level runs it again, and so does this caller.
     */
    <R extends @Nullable Object> IdempotencyStore<Handle, R> joined(JdbcStore<R> store) {
        return new IdempotencyStore<>() {
            @Override
            public <X extends Exception> Outcome<R> execute(
                    Request request, Action<? super Handle, ? extends R, X> action, Publication<? super R> publication)
                    throws X {
                while (true) {
                    // Not jdbi.inTransaction, which would give a call inside an action its caller's handle.
                    try (Handle own = open()) {
                        return own.inTransaction(handle -> store.joining(handle).execute(request, action, publication));
                    } catch (RetryTransactionException | TransactionException e) {
                        boolean serialization = SqlFailures.saysRunAgain(e, Dialect.UNKNOWN);
                        if (isolation != TransactionIsolationLevel.SERIALIZABLE || !serialization) {
                            throw e;
                        }
                    }
                }
            }

            @Override
            public @Nullable Duration retention() {
                return store.retention();
            }
        };
    }

    /** A caller that waits for its pool and is interrupted there has asked the store nothing yet. */
    private Handle open() {
        try {
            return jdbi.open();
        } catch (ConnectionException e) {
            throw new RetryableException("no connection", e);
        }
    }

    void insert(Handle handle, String table, Request request, @Nullable String response) {
        List<String> columns = new ArrayList<>(List.of("fingerprint", "response"));
        for (IdempotencyKey key : request.keys()) {
            int i = StoreFixture.NAMESPACES.indexOf(key.namespace());
            columns.add("scope" + i);
            columns.add("id" + i);
        }
        String marks = "?, ".repeat(columns.size() - 1) + "?";
        try (Update insert = handle.createUpdate(
                "insert into " + table + " (" + String.join(", ", columns) + ") values (" + marks + ")")) {
            Fingerprint fingerprint = request.fingerprint();
            insert.bind(0, fingerprint == null ? null : fingerprint.toBytes());
            insert.bind(1, response);
            int i = 2;
            for (IdempotencyKey key : request.keys()) {
                insert.bind(i++, key.scope());
                insert.bind(i++, key.id());
            }
            insert.execute();
        }
    }

    int effects(String table, IdempotencyKey key) {
        int i = StoreFixture.NAMESPACES.indexOf(key.namespace());
        return jdbi.withHandle(handle -> handle.createQuery(
                        "select count(*) from " + table + " where scope" + i + " = ? and id" + i + " = ?")
                .bind(0, key.scope())
                .bind(1, key.id())
                .mapTo(Integer.class)
                .one());
    }

    void age(IdempotencyKey key, Duration by) {
        long micros = by.toMillis() * 1_000;
        jdbi.useHandle(handle -> handle.execute(
                "update idempotency_record set expires_at = expires_at - ?, created_at = created_at - ?"
                        + " where record_id = ?",
                micros,
                micros,
                record(handle, key)));
    }

    /** Ends the lease that a record is held by. */
    void lapse(IdempotencyKey key) {
        jdbi.useHandle(handle -> handle.execute(
                "update idempotency_record set lease_until = 1 where record_id = ?", record(handle, key)));
    }

    private static byte[] record(Handle handle, IdempotencyKey key) {
        return handle.createQuery("select record_id from idempotency_record where idempotency_key = ?")
                .bind(0, key.toBytes())
                .mapTo(byte[].class)
                .one();
    }

    private static Optional<Original<@Nullable String>> find(Handle handle, IdempotencyKey key, String lock) {
        int i = StoreFixture.NAMESPACES.indexOf(key.namespace());
        return handle.createQuery(
                        "select row_id, response, fingerprint, scope%1$d, id%1$d from effect where scope%1$d = ? and id%1$d = ?"
                                        .formatted(i)
                                + lock)
                .bind(0, key.scope())
                .bind(1, key.id())
                .map((row, context) -> {
                    byte[] fingerprint = row.getBytes(3);
                    return new Original<@Nullable String>(
                                    row.getLong(1),
                                    row.getString(2),
                                    fingerprint == null ? null : Fingerprint.of(fingerprint))
                            .recordedAs(IdempotencyKey.of(key.namespace(), row.getString(4), row.getString(5)));
                })
                .findOne();
    }
}
