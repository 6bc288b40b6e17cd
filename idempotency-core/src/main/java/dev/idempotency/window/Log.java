package dev.idempotency.window;

import dev.idempotency.Codec;
import dev.idempotency.Original;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a shard, in the order in which they were written: chunks of bytes, of which the oldest is dropped whole
 * once its last entry is over. Dropping one costs the same whatever is in it.
 *
 * <ol>
 *   <li>A location is 16 bits of a chunk's number and 16 of the offset in it. Numbers come round again; whoever keeps
 *       locations has {@value #SPARE} chunks' time to notice that one is gone ({@link #holds}).
 *   <li>A chunk is a small part of what the log holds, so that little is lost in the newest, not full yet, and in the oldest,
 *       over in part. It is closed after an eighth of the window's time at the latest, and cut to what is used of it.
 *   <li>A chunk none of whose entries is wanted any more gives its bytes back at once.
 *   <li>A deadline is kept as its distance from when its chunk was begun, rounded down to a 131,072nd of the window's time.
 * </ol>
 *
 * <p>Guarded by the shard's lock.
 */
final class Log {

    static final int NOWHERE = -1;

    /** The numbers of chunks that are not in use at any time. */
    static final int SPARE = 1 << 15;

    private static final int MOST_CHUNKS = (1 << 16) - SPARE;
    /** The sizes of a chunk in bytes, but for one whose only entry is larger. */
    static final int SMALLEST = 512;

    static final int LARGEST = 1 << 15;

    /** How many chunks a log has where their size allows it. */
    static final int CHUNKS = 64;

    private static final byte[] NOTHING = {};
    private static final int PRECISION_BITS = 17;
    private static final int FEWEST = 4;

    private final Entries entries;
    private final long lasting;
    private final int unit;
    private final long mostLive;

    /** The chunks, each at its number modulo the length, a power of two. */
    private @Nullable Chunk[] ring;

    /** Each chunk's bytes, at its place: a look waits for memory at each step, and so doesn't go by way of the chunk. */
    private byte[] @Nullable [] contents;

    private int oldest;
    private int count;
    private @Nullable Chunk open;
    private long bytes;
    private long live;
    private long evictions;

    /**
     * A log with nothing in it.
     *
     * @param lasting nanoseconds that an entry lasts at the most
     * @param mostLive how many entries it is to hold, so that a chunk is a small part of them
     */
    Log(Entries entries, long lasting, long mostLive) {
        this.entries = entries;
        this.lasting = lasting;
        this.unit = Math.max(0, Long.SIZE - 1 - Long.numberOfLeadingZeros(lasting) - PRECISION_BITS);
        this.mostLive = mostLive;
        this.ring = new Chunk[FEWEST];
        this.contents = new byte[FEWEST][];
    }

    long live() {
        return live;
    }

    long bytes() {
        return bytes;
    }

    long evictions() {
        return evictions;
    }

    /** How many chunks were begun, modulo 2¹⁶. */
    int begun() {
        return (oldest + count) & 0xFFFF;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Whether the chunk of a location is still there. */
    boolean holds(int location) {
        return (((location >>> 16) - oldest) & 0xFFFF) < count;
    }

    boolean isOf(int location, Name name) {
        return holds(location) && entries.isOf(bytes(location), location & 0xFFFF, name);
    }

    /** The chunk of a location that the log {@link #holds}. */
    Chunk chunk(int location) {
        return Objects.requireNonNull(ring[place(location >>> 16)]);
    }

    /** The bytes of the chunk of a location that the log {@link #holds}; what was written into them is not changed. */
    byte[] bytes(int location) {
        return Objects.requireNonNull(contents[place(location >>> 16)]);
    }

    /** Reads an entry of a chunk, unless its time is over. The chunk's bytes are given, as it may have dropped them. */
    <R extends @Nullable Object> @Nullable Original<R> read(
            Chunk chunk, byte[] bytes, int location, long now, Codec<R> codec) {
        Cursor entry = new Cursor(bytes, location & 0xFFFF);
        int kind = entry.readByte();
        long deadline = chunk.begun + (entry.readNumber() << unit);
        return deadline - now <= 0 ? null : entries.read(entry, kind, codec);
    }

    /** Writes an entry, and tells where. */
    int append(Name name, Value value, long deadline, long now) {
        Chunk chunk = open;
        if (chunk == null
                || isFull(chunk, now)
                || newest().length - chunk.used < entries.size(name, value, distance(chunk.begun, deadline))) {
            chunk = begin(entries.size(name, value, distance(now, deadline)), now, deadline);
        }
        if (chunk.latest - deadline < 0) {
            chunk.latest = deadline;
        }
        int offset = chunk.used;
        chunk.used = entries.write(newest(), offset, name, value, distance(chunk.begun, deadline));
        chunk.live++;
        live++;
        return (oldest + count - 1) << 16 | offset;
    }

    /** An entry is not wanted any more: it was replaced or removed. */
    void release(int location) {
        Chunk chunk = chunk(location);
        live--;
        chunk.live--;
        if (chunk.live == 0) {
            if (chunk == open) {
                open = null;
            }
            bytes -= bytes(location).length;
            contents[place(location >>> 16)] = NOTHING;
        }
    }

    /** Drops the oldest chunks that are over, not too many at once. */
    void expire(long now) {
        for (int i = 0; i < 64 && count > 0 && isDone(chunkAt(0), now); i++) {
            dropOldest();
        }
    }

    /** Drops the oldest chunk, whether it is over or not. */
    void dropOldest() {
        Chunk chunk = chunkAt(0);
        if (chunk == open) {
            open = null;
        }
        evictions += chunk.live;
        live -= chunk.live;
        int place = place(oldest);
        bytes -= bytes(oldest << 16).length + Chunk.OVERHEAD;
        ring[place] = null;
        contents[place] = null;
        oldest = (oldest + 1) & 0xFFFF;
        count--;
        if (ring.length > FEWEST && count < ring.length >> 2) {
            resize(ring.length >> 1);
        }
    }

    private Chunk begin(int size, long now, long deadline) {
        close();
        if (count == MOST_CHUNKS) {
            dropOldest();
        }
        int length = (int) Math.max(SMALLEST, Math.min(LARGEST, bytes / CHUNKS));
        Chunk chunk = new Chunk(now, deadline);
        byte[] room = new byte[Math.max(size, length)];
        if (count == ring.length) {
            resize(count << 1);
        }
        int place = place(oldest + count);
        ring[place] = chunk;
        contents[place] = room;
        count++;
        bytes += room.length + Chunk.OVERHEAD;
        open = chunk;
        return chunk;
    }

    private void close() {
        if (open != null) {
            byte[] room = newest();
            int unused = room.length - open.used;
            if (unused > room.length >> 4) {
                contents[place(oldest + count - 1)] = Arrays.copyOf(room, open.used);
                bytes -= unused;
            }
            open = null;
        }
    }

    /** The bytes of the newest chunk. */
    private byte[] newest() {
        return bytes((oldest + count - 1) << 16);
    }

    private boolean isDone(Chunk chunk, long now) {
        return chunk.isOver(now) || (chunk.live == 0 && chunk != open);
    }

    private boolean isFull(Chunk chunk, long now) {
        return now - chunk.begun > lasting >> 3 || chunk.live > mostLive >> 3;
    }

    private long distance(long begun, long deadline) {
        return (deadline - begun) >> unit;
    }

    /** A chunk by its age: 0 is the oldest. */
    private Chunk chunkAt(int age) {
        return Objects.requireNonNull(ring[place(oldest + age)]);
    }

    /** Where in the rings the chunk of a number is. */
    private int place(int number) {
        return number & (ring.length - 1);
    }

    private void resize(int length) {
        @Nullable Chunk[] chunks = new Chunk[length];
        byte[] @Nullable [] bytesOfChunks = new byte[length][];
        for (int i = 0; i < count; i++) {
            int number = oldest + i;
            chunks[number & (length - 1)] = ring[place(number)];
            bytesOfChunks[number & (length - 1)] = contents[place(number)];
        }
        ring = chunks;
        contents = bytesOfChunks;
    }
}
