package dev.idempotency.jdbc;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.LeaseContract;
import dev.idempotency.testkit.StoreContract;
import java.time.Duration;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jspecify.annotations.Nullable;

/** The store contract on leases in the library's table. */
final class LeasedContractTest implements StoreContract<Lease>, LeaseContract {

    private final ContractDatabase database =
            ContractDatabase.empty(TestDatabase.H2, TransactionIsolationLevel.READ_COMMITTED);
    private final IdempotencyStore<Lease, @Nullable String> store = anotherServer();

    @Override
    public IdempotencyStore<Lease, @Nullable String> store() {
        return store;
    }

    @Override
    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    public IdempotencyStore<Lease, @Nullable String> anotherServer() {
        return JdbcStores.leased(
                database.jdbi, Codec.utf8(), LeaseOptions.defaults().lease(Duration.ofMinutes(5)));
    }

    /** Outside the store: in a transaction of its own, as a payment at another system would be. */
    @Override
    public void performs(Lease lease, Request request, @Nullable String response) {
        lease.effectStarts();
        database.jdbi.useHandle(handle -> database.insert(handle, "unguarded", request, response));
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
    public void lapse(IdempotencyKey key) {
        database.jdbi.useHandle(handle -> handle.execute(
                "update idempotency_record set lease_until = 1 where record_id ="
                        + " (select record_id from idempotency_record where idempotency_key = ?)",
                key.toBytes()));
    }
}
