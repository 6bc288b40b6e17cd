package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.testkit.Memory.Transaction;
import org.jspecify.annotations.Nullable;

/** An honest store over the user's own table passes the contract. */
final class OwnTableStoreTest implements StoreContract<Transaction>, TransactionContract<Transaction> {

    private final Memory memory = new Memory();
    private final OwnTableStore store = new OwnTableStore(memory);

    @Override
    public IdempotencyStore<Transaction, @Nullable String> store() {
        return store;
    }

    @Override
    public IdempotencyStore<Transaction, @Nullable String> anotherServer() {
        return new OwnTableStore(memory);
    }

    @Override
    public void performs(Transaction context, Request request, @Nullable String response) throws Exception {
        OwnTableStore.insert(context, request, response);
    }

    @Override
    public int effects(IdempotencyKey key) {
        return memory.effects(key);
    }

    @Override
    public boolean addsNames() {
        return false;
    }
}
