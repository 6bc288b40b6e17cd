package dev.idempotency.benchmarks.window;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A baseline: a {@link ConcurrentHashMap}. */
final class MapWindow<R extends @Nullable Object> implements Window<R> {

    private final Map<IdempotencyKey, Entry<R>> entries = new ConcurrentHashMap<>();
    private final Ticker ticker;

    private MapWindow(Ticker ticker) {
        this.ticker = ticker;
    }

    private record Entry<R extends @Nullable Object>(Original<R> original, long deadline) {}

    record Spec(Duration lasting, Ticker ticker) implements Window.Spec {
        @Override
        public <R extends @Nullable Object> Window<R> create() {
            return new MapWindow<>(ticker);
        }
    }

    @Override
    public long now() {
        return ticker.read();
    }

    @Override
    public @Nullable Original<R> get(IdempotencyKey key) {
        Entry<R> entry = entries.get(key);
        return entry == null || entry.deadline - ticker.read() <= 0 ? null : entry.original;
    }

    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        entries.put(key, new Entry<>(original, deadline));
    }

    @Override
    public void remove(IdempotencyKey key) {
        entries.remove(key);
    }

    @Override
    public void clear() {
        entries.clear();
    }

    @Override
    public Stats stats() {
        return new Stats(0, 0, 0, entries.size());
    }
}
