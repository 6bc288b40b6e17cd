package dev.idempotency.window;

import java.util.Arrays;

/**
 * Where the entry of a key is: open addressing over pairs of a 32-bit hash and a {@link Log} location, of which a table
 * reads nothing else to grow.
 *
 * <ol>
 *   <li>The low bits of the hash choose one of the tables, each of which is small. One that is full is first rid of what the
 *       log has dropped, then grows by an eighth, and beyond {@value Table#MOST_SLOTS} slots is split in two by one more
 *       bit (Fagin and others, "Extendible hashing", 1979). So no call does more than copy one small table.
 *   <li>What the log drops is not looked for here. It is passed over when it is met, and goes when its table is full or
 *       {@link #sweep() swept}.
 * </ol>
 *
 * <p>Guarded by the shard's lock.
 */
final class Index {

    /** Beyond 2¹² tables a table grows instead of being split: with equal hashes splitting would never end. */
    private static final int DEEPEST = 12;

    private final Log log;
    private Table[] tables;
    private long slots;
    private int swept;

    Index(Log log) {
        this.log = log;
        this.tables = new Table[] {new Table(0, Table.FEWEST_SLOTS)};
        this.slots = Table.FEWEST_SLOTS;
    }

    long bytes() {
        return slots * Long.BYTES + (long) tables.length * Table.OVERHEAD;
    }

    /** Slots in all tables. */
    long slots() {
        return slots;
    }

    int find(int hash, Name name) {
        return table(hash).find(hash, name, log);
    }

    /** Puts a key's location in place of one that may be there, which it returns, or {@link Log#NOWHERE}. */
    int put(int hash, Name name, int location) {
        Table table = table(hash);
        int former = table.replace(hash, name, location, log);
        if (former == Log.NOWHERE) {
            while (table.isFull()) {
                makeRoom(table, hash);
                table = table(hash);
            }
            table.add(hash, location);
        }
        return former;
    }

    /** Removes a key, and returns where its entry was, or {@link Log#NOWHERE}. */
    int remove(int hash, Name name) {
        return table(hash).remove(hash, name, log);
    }

    /** Rids the next few tables of what the log has dropped; a thousand calls go over all of them. */
    void sweep() {
        for (int i = 0; i <= tables.length >> 10; i++) {
            Table table = tables[swept++ & (tables.length - 1)];
            slots -= table.slots();
            table.purge(log);
            table.shrink();
            slots += table.slots();
        }
    }

    private Table table(int hash) {
        return tables[hash & (tables.length - 1)];
    }

    private void makeRoom(Table table, int hash) {
        table.purge(log);
        if (!table.isCrowded()) {
            return;
        }
        slots -= table.slots();
        if (table.slots() < Table.MOST_SLOTS || table.depth == DEEPEST) {
            table.grow();
            slots += table.slots();
            return;
        }
        if (1 << table.depth == tables.length) {
            Table[] more = Arrays.copyOf(tables, tables.length << 1);
            System.arraycopy(tables, 0, more, tables.length, tables.length);
            tables = more;
        }
        Table zeros = table.half(0);
        Table ones = table.half(1);
        slots += zeros.slots() + ones.slots();
        int step = 1 << table.depth;
        boolean one = false;
        for (int i = hash & (step - 1); i < tables.length; i += step, one = !one) {
            tables[i] = one ? ones : zeros;
        }
    }
}
