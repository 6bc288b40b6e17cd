package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.testkit.StoreFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jspecify.annotations.Nullable;

/** What the store contract needs of a store in a database, in one of its modes. */
abstract class JdbcFixture implements StoreFixture<Handle> {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL,
        /** Each call inside a transaction of the caller. */
        JOINED_YOUR_TABLE,
        JOINED_TRANSACTIONAL,
        /** The action's one insert in autocommit mode. */
        SINGLE_STATEMENT,
        /** Keys are inserted after the action, with the response. */
        ACTION_FIRST;

        boolean joined() {
            return this == JOINED_YOUR_TABLE || this == JOINED_TRANSACTIONAL;
        }

        boolean ownTable() {
            return this == YOUR_TABLE || this == JOINED_YOUR_TABLE || this == SINGLE_STATEMENT;
        }
    }

    /** What the contract is run on. */
    record Setup(TestDatabase database, Mode mode, TransactionIsolationLevel isolation) {

        static List<Setup> eachAt(List<TransactionIsolationLevel> isolations) {
            return eachAt(isolations, EnumSet.complementOf(EnumSet.of(Mode.SINGLE_STATEMENT, Mode.ACTION_FIRST)));
        }

        static List<Setup> eachAt(List<TransactionIsolationLevel> isolations, Set<Mode> modes) {
            List<Setup> setups = new ArrayList<>();
            for (TestDatabase database : TestDatabase.values()) {
                for (TransactionIsolationLevel isolation : isolations) {
                    for (Mode mode : modes) {
                        setups.add(new Setup(database, mode, isolation));
                    }
                }
            }
            return setups;
        }
    }

    final Setup setup;
    private final ContractDatabase database;
    private final String table;
    private final IdempotencyStore<Handle, @Nullable String> store;

    JdbcFixture(Setup setup) {
        this.setup = setup;
        this.database = ContractDatabase.empty(setup.database, setup.isolation);
        this.table = setup.mode.ownTable() ? "effect" : "unguarded";
        this.store = newStore();
    }

    private IdempotencyStore<Handle, @Nullable String> newStore() {
        return switch (setup.mode) {
            case YOUR_TABLE -> database.yourTable();
            case SINGLE_STATEMENT -> database.yourTableSingleStatement();
            case TRANSACTIONAL -> database.transactional();
            case ACTION_FIRST -> database.transactionalActionFirst();
            case JOINED_YOUR_TABLE -> database.joined(database.yourTableLocking());
            case JOINED_TRANSACTIONAL -> database.joined(database.transactional());
        };
    }

    @Override
    public final IdempotencyStore<Handle, @Nullable String> store() {
        return store;
    }

    @Override
    public final IdempotencyStore<Handle, @Nullable String> anotherServer() {
        return newStore();
    }

    @Override
    public final void performs(Handle handle, Request request, @Nullable String response) {
        database.insert(handle, table, request, response);
    }

    @Override
    public final int effects(IdempotencyKey key) {
        return database.effects(table, key);
    }

    @Override
    public final void age(IdempotencyKey key, Duration by) {
        database.age(key, by);
    }

    @Override
    public final boolean addsNames() {
        return !setup.mode.ownTable();
    }

    @Override
    public final boolean publishesExecuted() {
        return !setup.mode.joined();
    }

    @Override
    public final boolean publishesReplayed() {
        return !setup.mode.joined();
    }
}
