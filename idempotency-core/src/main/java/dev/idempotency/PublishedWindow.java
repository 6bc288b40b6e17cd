package dev.idempotency;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A window as the front door uses it: its failure is a miss, and what was removed does not come back by a call that was
 * under way.
 *
 * <ol>
 *   <li>A publication remembers the window's clock and epoch from before the store was asked.
 *   <li>Removing and clearing begin a new epoch before they remove.
 *   <li>A publication of an old epoch puts nothing; one whose epoch ends while it puts takes back what it put.
 * </ol>
 */
final class PublishedWindow<R extends @Nullable Object> implements Window<R> {

    /** Half the range of a clock that is compared by difference. */
    private static final long UNLIMITED = Long.MAX_VALUE >> 1;

    private final Window<R> window;
    private final Consumer<Throwable> onFailure;
    private final AtomicLong epoch = new AtomicLong();

    PublishedWindow(Window<R> window, Consumer<Throwable> onFailure) {
        this.window = window;
        this.onFailure = onFailure;
    }

    /** A publication of what is told from now on: to be made before the store is asked. */
    Publication<R> publication() {
        long askedIn = epoch.get();
        long asked;
        try {
            asked = window.now();
        } catch (Throwable e) {
            onFailure.accept(e);
            // Without a time to count from, an entry could outlast its record.
            return (names, original, remaining) -> {};
        }
        return (names, original, remaining) -> {
            if (epoch.get() != askedIn) {
                return;
            }
            try {
                Original<R> kept = new Original<>(original.identity(), original.response(), original.fingerprint());
                long deadline = asked + nanos(remaining);
                try {
                    window.putAll(List.copyOf(names), kept, deadline);
                } finally {
                    // Who fails may have kept it all the same.
                    if (epoch.get() != askedIn) {
                        names.forEach(window::remove);
                    }
                }
            } catch (Throwable e) {
                onFailure.accept(e);
            }
        };
    }

    @Override
    public long now() {
        return window.now();
    }

    @Override
    public @Nullable Original<R> get(IdempotencyKey key) {
        try {
            return window.get(key);
        } catch (Throwable e) {
            onFailure.accept(e);
            return null;
        }
    }

    @Override
    public List<@Nullable Original<R>> getAll(List<IdempotencyKey> keys) {
        try {
            List<@Nullable Original<R>> found = window.getAll(keys);
            if (found.size() != keys.size()) {
                throw new IllegalStateException(
                        "the window gave " + found.size() + " answers to a look for " + keys.size() + " keys");
            }
            return found;
        } catch (Throwable e) {
            onFailure.accept(e);
            return Collections.nCopies(keys.size(), null);
        }
    }

    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        window.put(key, original, deadline);
    }

    @Override
    public void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
        window.putAll(keys, original, deadline);
    }

    /** Not guarded: who removes must hear that it did not work. */
    @Override
    public void remove(IdempotencyKey key) {
        epoch.incrementAndGet();
        window.remove(key);
    }

    /** Not guarded: who clears must hear that it did not work. */
    @Override
    public void clear() {
        epoch.incrementAndGet();
        window.clear();
    }

    @Override
    public Stats stats() {
        return window.stats();
    }

    private static long nanos(@Nullable Duration remaining) {
        if (remaining == null || remaining.toSeconds() >= UNLIMITED / 1_000_000_000L) {
            return UNLIMITED;
        }
        return remaining.toNanos();
    }
}
