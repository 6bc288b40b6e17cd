package dev.idempotency.redis;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.LeaseContract;
import dev.idempotency.testkit.StoreContract;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The store contract on one server, on a cluster, and on the Redis that is installed. */
@ParameterizedClass
@EnumSource(RedisServers.class)
final class RedisContractTest implements StoreContract<Lease>, LeaseContract {

    private final KeptRecords records;
    private final Map<IdempotencyKey, Integer> effects = new ConcurrentHashMap<>();
    private final IdempotencyStore<Lease, @Nullable String> store;

    RedisContractTest(RedisServers server) {
        this.records = new KeptRecords(server.client());
        this.store = anotherServer();
    }

    @Override
    public IdempotencyStore<Lease, @Nullable String> store() {
        return store;
    }

    @Override
    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    public IdempotencyStore<Lease, @Nullable String> anotherServer() {
        return RedisStores.leased(
                records.client,
                Codec.utf8(),
                records.options.leases(LeaseOptions.defaults().lease(Duration.ofMinutes(5))));
    }

    /** Outside the store, as a payment at another system would be. */
    @Override
    public void performs(Lease lease, Request request, @Nullable String response) {
        lease.effectStarts();
        request.keys().forEach(key -> effects.merge(key, 1, Integer::sum));
    }

    @Override
    public int effects(IdempotencyKey key) {
        return effects.getOrDefault(key, 0);
    }

    @Override
    public void age(IdempotencyKey key, Duration by) {
        records.age(key, by);
    }

    @Override
    public void lapse(IdempotencyKey key) {
        records.lapse(key);
    }
}
