package dev.idempotency.window;

/**
 * One table of an {@link Index}: linear probing from where the high bits of the hash say, its home, without gravestones. A
 * slot is the hash in the high and the location in the low half of a long; 0 is empty, as no hash is 0.
 *
 * <p>Slots stand in the order of their homes (Celis, "Robin Hood hashing", 1986), so that a look for a key that is not there
 * ends where it would stand, after four slots of a table that is full to 85%, instead of 23 at the next empty one.
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
        // From an empty slot on, homes never go back, so that each slot moves to its home or behind the one before it.
        int kept = 0;
        int free = 0;
        for (int i = 1; i < slots.length; i++) {
            int at = wrapped(start + i);
            long slot = slots[at];
            if (slot != 0) {
                slots[at] = 0;
                if (log.holds((int) slot)) {
                    free = Math.max(free, i - distance(slot, at));
                    slots[wrapped(start + free++)] = slot;
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
        int at = home(hash, seen.length);
        // Bounded, since a reader without the lock might never see where to stop.
        for (int i = 0; i < seen.length; i++) {
            long slot = seen[at];
            if (hash(slot) == hash && log.isOf((int) slot, name)) {
                return at;
            }
            if (slot == 0 || distance(slot, at, seen.length) < i) {
                return -1;
            }
            at = at + 1 == seen.length ? 0 : at + 1;
        }
        return -1;
    }

    /** Puts a slot behind those whose homes are not after its own, and moves the rest of the run on. */
    private void place(long slot) {
        int at = home(hash(slot), slots.length);
        int moved = 0;
        while (slots[at] != 0 && distance(slots[at], at) >= moved) {
            at = wrapped(at + 1);
            moved++;
        }
        long carried = slot;
        while (carried != 0) {
            long next = slots[at];
            slots[at] = carried;
            carried = next;
            at = wrapped(at + 1);
        }
    }

    /** Moves what is not at home back by one, up to the next that is. */
    private void removeAt(int removed) {
        used--;
        int gap = removed;
        for (int at = wrapped(gap + 1); slots[at] != 0 && distance(slots[at], at) > 0; at = wrapped(at + 1)) {
            slots[gap] = slots[at];
            gap = at;
        }
        slots[gap] = 0;
    }

    /** A place not twice as far as the table reaches. */
    private int wrapped(int at) {
        return at < slots.length ? at : at - slots.length;
    }

    private int distance(long slot, int at) {
        return distance(slot, at, slots.length);
    }

    /** How far a slot stands from its home. */
    private static int distance(long slot, int at, int length) {
        int distance = at - home(hash(slot), length);
        return distance < 0 ? distance + length : distance;
    }

    private static int home(int hash, int length) {
        return (int) (((hash & 0xFFFF_FFFFL) * length) >>> 32);
    }

    private static int hash(long slot) {
        return (int) (slot >>> 32);
    }

    private static long slot(int hash, int location) {
        return (long) hash << 32 | (location & 0xFFFF_FFFFL);
    }
}
