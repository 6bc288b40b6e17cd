package dev.idempotency;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys seen lately, in memory, with the response that each got. A window is a fast path and only that: it may
 * shorten work and never decides. Emptied, full, evicting, lagging or failing, it costs a trip to the store and nothing
 * else.
 *
 * <p>A window holds only what the store has told to be committed, and never serves an entry past its time. It is safe
 * for use by any number of threads.
 *
 * @param <R> the response
 */
public interface Window<R extends @Nullable Object> {

    /**
     * The window's own clock, by which deadlines are set.
     *
     * @return nanoseconds since an arbitrary moment, never standing still for long and never going back; two values are
     *     compared by their difference
     */
    long now();

    /**
     * Looks a key up. A look does not prolong the entry.
     *
     * @param key the key
     * @return the original that was put under it, or null if there is none, or none any more
     */
    @Nullable
    Original<R> get(IdempotencyKey key);

    /**
     * Looks many keys up, as {@link #get} does for one: for windows to which each look is a trip.
     *
     * @param keys the keys
     * @return for each of the keys, in their order, the original or null
     */
    default List<@Nullable Original<R>> getAll(List<IdempotencyKey> keys) {
        List<@Nullable Original<R>> found = new ArrayList<>(keys.size());
        for (IdempotencyKey key : keys) {
            found.add(get(key));
        }
        return found;
    }

    /**
     * Keeps a committed original, in place of one that may be there, for as long as the window lasts and no longer than
     * to the deadline. The window is free not to keep it.
     *
     * @param key a key under which the store has recorded the original
     * @param original the original
     * @param deadline the value of {@link #now()} from which on the store may no longer have it
     */
    void put(IdempotencyKey key, Original<R> original, long deadline);

    /**
     * Keeps a committed original under all the keys that were recorded for it at once, as {@link #put} does for one.
     *
     * @param keys the keys
     * @param original the original
     * @param deadline as in {@link #put}
     */
    default void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
        for (IdempotencyKey key : keys) {
            put(key, original, deadline);
        }
    }

    /**
     * Forgets one key.
     *
     * @param key the key
     */
    void remove(IdempotencyKey key);

    /** Forgets everything: for a database that was failed over or restored from a backup, and may have lost commits. */
    void clear();

    /**
     * What the window has done since it was made.
     *
     * @return a snapshot
     */
    Stats stats();

    /**
     * Counts of a window's work. They are taken one after the other, so a snapshot under load need not add up.
     *
     * @param hits looks that found an entry
     * @param misses looks that found none
     * @param evictions entries that were dropped for their time or for want of room
     * @param entries entries held now, an estimate
     */
    record Stats(long hits, long misses, long evictions, long entries) {}

    /** How to make a window. */
    interface Spec {

        /**
         * For how long an entry stays at the most.
         *
         * @return a positive duration
         */
        Duration lasting();

        /**
         * Makes a window; each call makes a new one.
         *
         * @param <R> the response
         * @return an empty window
         */
        <R extends @Nullable Object> Window<R> create();
    }
}
