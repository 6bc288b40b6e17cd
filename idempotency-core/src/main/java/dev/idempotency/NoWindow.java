package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** Stands where no window was asked for. */
final class NoWindow<R extends @Nullable Object> implements Window<R> {

    @Override
    public long now() {
        return 0;
    }

    @Override
    public @Nullable Original<R> get(IdempotencyKey key) {
        return null;
    }

    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {}

    @Override
    public void remove(IdempotencyKey key) {}

    @Override
    public void clear() {}

    @Override
    public Stats stats() {
        return new Stats(0, 0, 0, 0);
    }
}
