package dev.idempotency.testkit;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.store.CaffeineStore;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The store for one process passes the contract; its clock is turned, as it has no records that could be aged. */
final class CaffeineStoreTest implements StoreContract<Lease>, LeaseContract {

    private final AtomicLong turned = new AtomicLong();
    private final Map<IdempotencyKey, Integer> effects = new ConcurrentHashMap<>();
    private final IdempotencyStore<Lease, @Nullable String> store = make();

    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    private IdempotencyStore<Lease, @Nullable String> make() {
        return CaffeineStore.leased(
                Codec.utf8(),
                LeaseOptions.defaults().lease(Duration.ofMinutes(5)),
                1_000_000,
                () -> System.nanoTime() + turned.get());
    }

    @Override
    public IdempotencyStore<Lease, @Nullable String> store() {
        return store;
    }

    @Override
    public IdempotencyStore<Lease, @Nullable String> anotherServer() {
        return store;
    }

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
        turned.addAndGet(by.toNanos());
    }

    @Override
    public void lapse(IdempotencyKey key) {
        turned.addAndGet(Duration.ofMinutes(5).toNanos());
    }
}
