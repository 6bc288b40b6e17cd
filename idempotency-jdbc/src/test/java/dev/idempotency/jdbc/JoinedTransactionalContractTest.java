package dev.idempotency.jdbc;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.testkit.StoreContract;
import dev.idempotency.testkit.TransactionContract;
import java.time.Duration;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** The store contract on the library's table, each call inside a transaction of the caller. */
final class JoinedTransactionalContractTest implements StoreContract<Handle>, TransactionContract<Handle> {

    private final ContractDatabase database = new ContractDatabase();
    private final IdempotencyStore<Handle, @Nullable String> store = anotherServer();

    @Override
    public IdempotencyStore<Handle, @Nullable String> store() {
        return store;
    }

    @Override
    public IdempotencyStore<Handle, @Nullable String> anotherServer() {
        return database.joined(database.transactional());
    }

    @Override
    public void performs(Handle handle, Request request, @Nullable String response) {
        database.insert(handle, "unguarded", request, response);
    }

    @Override
    public int effects(IdempotencyKey key) {
        return database.effects("unguarded", key);
    }

    @Override
    public void age(IdempotencyKey key, Duration by) {
        database.age(key, by);
    }

    @Override
    public boolean publishesExecuted() {
        return false;
    }

    @Override
    public boolean publishesReplayed() {
        return false;
    }

    @AfterEach
    void close() {
        database.close();
    }
}
