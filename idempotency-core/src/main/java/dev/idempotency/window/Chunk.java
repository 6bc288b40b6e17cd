package dev.idempotency.window;

/**
 * Entries that were written one after the other, and go together when the last of them is over: what is known of them, as
 * the {@link Log} itself has their bytes.
 */
final class Chunk {

    /** What a chunk takes on the heap beside its entries: this object, its array's header, two places in the log. */
    static final int OVERHEAD = 80;

    /** When it was made, from where its entries' deadlines are counted. */
    final long begun;

    int used;

    /** How many of its entries were neither replaced nor removed. */
    int live;

    /** The last of its entries' deadlines. */
    long latest;

    Chunk(long begun, long deadline) {
        this.begun = begun;
        this.latest = deadline;
    }

    boolean isOver(long now) {
        return latest - now <= 0;
    }
}
