package dev.idempotency.jdbc;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.StoreFixture;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jspecify.annotations.Nullable;

/** What the store contract needs of leases in the library's table. */
abstract class LeasedFixture implements StoreFixture<Lease> {

    /** What the contract is run on. */
    record Setup(TestDatabase database, TransactionIsolationLevel isolation) {

        static List<Setup> eachAt(TransactionIsolationLevel... isolations) {
            return Arrays.stream(TestDatabase.values())
                    .flatMap(database -> Arrays.stream(isolations).map(isolation -> new Setup(database, isolation)))
                    .toList();
        }
    }

    private final ContractDatabase database;
    private final IdempotencyStore<Lease, @Nullable String> store;

    LeasedFixture(Setup setup) {
        database = ContractDatabase.empty(setup.database, setup.isolation);
        store = anotherServer();
    }

    @Override
    public final IdempotencyStore<Lease, @Nullable String> store() {
        return store;
    }

    @Override
    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    public final IdempotencyStore<Lease, @Nullable String> anotherServer() {
        return JdbcStores.leased(
                database.jdbi, Codec.utf8(), LeaseOptions.defaults().lease(Duration.ofMinutes(5)));
    }

    /** Outside the store: in a transaction of its own, as a payment at another system would be. */
    @Override
    public final void performs(Lease lease, Request request, @Nullable String response) {
        lease.effectStarts();
        database.jdbi.useHandle(handle -> database.insert(handle, "unguarded", request, response));
    }

    @Override
    public final int effects(IdempotencyKey key) {
        return database.effects("unguarded", key);
    }

    @Override
    public final void age(IdempotencyKey key, Duration by) {
        database.age(key, by);
    }

    public final void lapse(IdempotencyKey key) {
        database.lapse(key);
    }
}
