package dev.idempotency.window;

import java.util.Arrays;

/** Entries that were written one after the other, and go together when the last of them is over. */
final class Chunk {

    private static final byte[] NOTHING = {};

    /** What a chunk takes on the heap beside its entries: this object, its array's header, a place in the log. */
    static final int OVERHEAD = 80;

    /** When it was made, from where its entries' deadlines are counted. */
    final long begun;

    byte[] bytes;
    int used;

    /** How many of its entries were neither replaced nor removed. */
    int live;

    /** The last of its entries' deadlines. */
    long latest;

    Chunk(int length, long begun, long deadline) {
        this.bytes = new byte[length];
        this.begun = begun;
        this.latest = deadline;
    }

    boolean isOver(long now) {
        return latest - now <= 0;
    }

    int room() {
        return bytes.length - used;
    }

    int size() {
        return bytes.length + OVERHEAD;
    }

    void trim() {
        if (room() > bytes.length >> 4) {
            bytes = Arrays.copyOf(bytes, used);
        }
    }

    void drop() {
        bytes = NOTHING;
    }
}
