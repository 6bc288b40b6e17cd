package dev.idempotency.window;

/**
 * One table of an {@link Index}: linear probing from where the high bits of the hash say, without gravestones. A slot is
 * the hash in the high and the location in the low half of a long; 0 is empty, as no hash is 0.
 *
 * <p>Slots may be of entries that the log has dropped. {@link #purge} takes these out in place.
 */
final class Table {

    static final int FEWEST_SLOTS = 8;
    static final int MOST_SLOTS = 2048;

    /** What a table takes on the heap beside its slots: this object, its array's header, a place in the index. */
    static final int OVERHEAD = 48;

    /** How many low bits of the hash all of this table's have in common. */
    final int depth;

    private long[] slots;
    private int used;

    Table(int depth, int slots) {
        this.depth = depth;
        this.slots = new long[slots];
    }

    int slots() {
        return slots.length;
    }

    /** More than 85% used. */
    boolean isFull() {
        return (used + 1) * 20L > slots.length * 17L;
    }

    /** So full, without anything to purge, that purging again soon would cost more than growing. */
    boolean isCrowded() {
        return used * 4L >= slots.length * 3L;
    }

    int find(int hash, Name name, Log log) {
        long[] seen = slots;
        int at = slotOf(hash, name, log);
        return at < 0 ? Log.NOWHERE : (int) seen[at];
    }

    int replace(int hash, Name name, int location, Log log) {
        int at = slotOf(hash, name, log);
        if (at < 0) {
            return Log.NOWHERE;
        }
        int former = (int) slots[at];
        slots[at] = slot(hash, location);
        return former;
    }

    int remove(int hash, Name name, Log log) {
        int at = slotOf(hash, name, log);
        if (at < 0) {
            return Log.NOWHERE;
        }
        int location = (int) slots[at];
        removeAt(at);
        return location;
    }

    /** To be called if there is room, and the key is not here. */
    void add(int hash, int location) {
        place(slot(hash, location));
        used++;
    }

    /** Takes out what the log has dropped. */
    void purge(Log log) {
        int start = 0;
        while (slots[start] != 0) {
            start++;
        }
        // From an empty slot on, each slot's place is in its own run, and all before it in the run are placed already.
        int kept = 0;
        for (int i = start + 1; i < start + slots.length; i++) {
            int at = i < slots.length ? i : i - slots.length;
            long slot = slots[at];
            if (slot != 0) {
                slots[at] = 0;
                if (log.holds((int) slot)) {
                    place(slot);
                    kept++;
                }
            }
        }
        used = kept;
    }

    void grow() {
        resize(slots.length + Math.max(slots.length >> 3, FEWEST_SLOTS));
    }

    /** Gives slots back if more than half of them are empty. */
    void shrink() {
        int enough = roomFor(used);
        if (enough < slots.length - (slots.length >> 2)) {
            resize(enough);
        }
    }

    /** A table of those of this one's slots whose hash has this bit after the common ones. */
    Table half(int bit) {
        int size = 0;
        for (long slot : slots) {
            size += slot != 0 && isOf(slot, bit) ? 1 : 0;
        }
        Table half = new Table(depth + 1, roomFor(size));
        half.used = size;
        for (long slot : slots) {
            if (slot != 0 && isOf(slot, bit)) {
                half.place(slot);
            }
        }
        return half;
    }

    private boolean isOf(long slot, int bit) {
        return ((hash(slot) >>> depth) & 1) == bit;
    }

    /** Slots for so many, of which about a fifth stay empty. */
    private static int roomFor(int size) {
        return Math.max(FEWEST_SLOTS, size + size / 3 + 2);
    }

    private void resize(int length) {
        long[] former = slots;
        slots = new long[length];
        for (long slot : former) {
            if (slot != 0) {
                place(slot);
            }
        }
    }

    private int slotOf(int hash, Name name, Log log) {
        long[] seen = slots;
        int at = (int) (((hash & 0xFFFF_FFFFL) * seen.length) >>> 32);
        // Bounded, since a reader without the lock might never see an empty slot.
        for (int i = 0; i < seen.length; i++) {
            long slot = seen[at];
            if (slot == 0) {
                return -1;
            }
            if (hash(slot) == hash && log.isOf((int) slot, name)) {
                return at;
            }
            at = at + 1 == seen.length ? 0 : at + 1;
        }
        return -1;
    }

    private void place(long slot) {
        int at = home(hash(slot));
        while (slots[at] != 0) {
            at = next(at);
        }
        slots[at] = slot;
    }

    /** Closes the gap, so that no probe ends too early (Knuth, volume 3, 6.4, algorithm R). */
    private void removeAt(int gap) {
        used--;
        for (int at = next(gap); slots[at] != 0; at = next(at)) {
            int home = home(hash(slots[at]));
            boolean homeIsBetween = gap < at ? (gap < home && home <= at) : (gap < home || home <= at);
            if (!homeIsBetween) {
                slots[gap] = slots[at];
                gap = at;
            }
        }
        slots[gap] = 0;
    }

    private int next(int at) {
        return at + 1 == slots.length ? 0 : at + 1;
    }

    private int home(int hash) {
        return (int) (((hash & 0xFFFF_FFFFL) * slots.length) >>> 32);
    }

    private static int hash(long slot) {
        return (int) (slot >>> 32);
    }

    private static long slot(int hash, int location) {
        return (long) hash << 32 | (location & 0xFFFF_FFFFL);
    }
}
