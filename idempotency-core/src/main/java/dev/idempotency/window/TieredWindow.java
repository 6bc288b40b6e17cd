package dev.idempotency.window;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import dev.idempotency.window.SharedWindow.Held;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Two windows, one behind the other: one in the memory of this process, and one that several processes share.
 *
 * <ol>
 *   <li>The first is asked. What it has not is asked of the second, and put into the first for as long as it stays in the
 *       second and no longer.
 *   <li>What is committed is put into the first, and then into the second, which may fail: the first has it all the same.
 *   <li>Removing and clearing start at the second, so that nothing comes back from there. What a look under way has found
 *       before is not put into the first any more. Other processes' own windows are not reached.
 * </ol>
 *
 * <p>A failure of the second while it is looked at is a miss of what the first has not, and the listener hears of it; of a look
 * for many keys of which the first has some, at the next publication. Safe for use by any number of
 * threads.
 */
public final class TieredWindow<R extends @Nullable Object> implements Window<R> {

    private final Window<R> first;
    private final SharedWindow<R> second;
    private final AtomicLong epoch = new AtomicLong();
    private final AtomicReference<@Nullable RuntimeException> untold = new AtomicReference<>();

    private TieredWindow(Window<R> first, SharedWindow<R> second) {
        this.first = first;
        this.second = second;
    }

    /**
     * One window behind another.
     *
     * @param first in the memory of this process
     * @param second shared with other processes
     * @return how to make both
     */
    public static Window.Spec of(Window.Spec first, SharedWindow.Spec second) {
        return new Spec(Objects.requireNonNull(first, "first"), Objects.requireNonNull(second, "second"));
    }

    /** The clock of the first. */
    @Override
    public long now() {
        return first.now();
    }

    @Override
    public @Nullable Original<R> get(IdempotencyKey key) {
        Original<R> near = first.get(key);
        if (near != null) {
            return near;
        }
        long askedIn = epoch.get();
        long asked = first.now();
        Held<R> held = second.held(key);
        return held == null ? null : filled(key, held, asked, askedIn);
    }

    /**
     * {@inheritDoc} The second is asked once for all that the first has not. If it fails, what the first has stands, and the next
     * {@link #putAll} throws the failure, after it has put.
     */
    @Override
    public List<@Nullable Original<R>> getAll(List<IdempotencyKey> keys) {
        List<@Nullable Original<R>> found = new ArrayList<>(first.getAll(keys));
        List<IdempotencyKey> missed = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            if (found.get(i) == null) {
                missed.add(keys.get(i));
            }
        }
        if (missed.isEmpty()) {
            return found;
        }
        long askedIn = epoch.get();
        long asked = first.now();
        Iterator<@Nullable Held<R>> answers;
        try {
            answers = second.heldAll(missed).iterator();
        } catch (RuntimeException e) {
            if (missed.size() == keys.size()) {
                throw e;
            }
            untold.set(e);
            return found;
        }
        for (int i = 0; i < keys.size(); i++) {
            if (found.get(i) == null) {
                Held<R> held = answers.next();
                found.set(i, held == null ? null : filled(keys.get(i), held, asked, askedIn));
            }
        }
        return found;
    }

    /** Puts what the second has into the first, unless something was removed since the second was asked. */
    private Original<R> filled(IdempotencyKey key, Held<R> held, long asked, long askedIn) {
        if (epoch.get() == askedIn) {
            first.put(key, held.original(), asked + held.remaining().toNanos());
            if (epoch.get() != askedIn) {
                first.remove(key);
            }
        }
        return held.original();
    }

    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        putAll(List.of(key), original, deadline);
    }

    @Override
    public void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
        long remaining = deadline - first.now();
        first.putAll(keys, original, deadline);
        second.putAll(keys, original, second.now() + remaining);
        RuntimeException failure = untold.get() == null ? null : untold.getAndSet(null);
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void remove(IdempotencyKey key) {
        try {
            second.remove(key);
        } finally {
            epoch.incrementAndGet();
            first.remove(key);
        }
    }

    @Override
    public void clear() {
        try {
            second.clear();
        } finally {
            epoch.incrementAndGet();
            first.clear();
        }
    }

    /** Hits of both, misses of the second, and the entries of the first. */
    @Override
    public Stats stats() {
        Stats near = first.stats();
        Stats far = second.stats();
        return new Stats(near.hits() + far.hits(), far.misses(), near.evictions() + far.evictions(), near.entries());
    }

    private record Spec(Window.Spec first, SharedWindow.Spec second) implements Window.Spec {

        @Override
        public Duration lasting() {
            return first.lasting().compareTo(second.lasting()) > 0 ? first.lasting() : second.lasting();
        }

        @Override
        public <R extends @Nullable Object> TieredWindow<R> create() {
            return new TieredWindow<>(first.create(), second.create());
        }
    }
}
