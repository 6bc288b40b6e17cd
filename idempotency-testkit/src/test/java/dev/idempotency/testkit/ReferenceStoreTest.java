package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.testkit.Memory.Transaction;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An honest store that records every name passes the contract. */
final class ReferenceStoreTest implements StoreContract<Transaction>, TransactionContract<Transaction> {

    private final Memory memory = new Memory();
    private final ReferenceStore store = new ReferenceStore(memory);

    @Override
    public IdempotencyStore<Transaction, @Nullable String> store() {
        return store;
    }

    @Override
    public IdempotencyStore<Transaction, @Nullable String> anotherServer() {
        return new ReferenceStore(memory);
    }

    @Override
    public void performs(Transaction context, Request request, @Nullable String response) {
        context.effect(request.keys());
    }

    @Override
    public int effects(IdempotencyKey key) {
        return memory.effects(key);
    }

    @Override
    public void age(IdempotencyKey key, Duration by) {
        memory.advance(by);
    }
}
