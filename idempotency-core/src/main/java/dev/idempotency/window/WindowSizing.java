package dev.idempotency.window;

import java.time.Duration;
import java.util.Locale;

/**
 * How many IDs a window holds, and what a {@link CompactWindow} takes for them on the heap: {@code
 * WindowSizing.of(13_900, Duration.ofMinutes(5)).response(16).bytes()}.
 *
 * <p>What comes out is about right, within a tenth of what was measured at the four sizes that the library is made for, on a
 * 64-bit JVM with compressed references. Traffic that swings needs the room of its peak.
 *
 * @param perSecond messages a second, each with one key
 * @param lasting how long the window remembers
 * @param scopeBytes the sender's name in UTF-8
 * @param idBytes the ID as it is kept: 16 for a UUID in its canonical form, one more than its UTF-8 for any other
 * @param identityBytes the record's identity: 16 for a UUID, up to 10 for a number, 0 for a store on an own table
 * @param fingerprintBytes the fingerprint, such as 32 for SHA-256, or 0 for none
 * @param responseBytes the response as the codec encodes it
 */
public record WindowSizing(
        double perSecond,
        Duration lasting,
        int scopeBytes,
        int idBytes,
        int identityBytes,
        int fingerprintBytes,
        int responseBytes) {

    private static final int UUID_BYTES = 16;

    /** Kind, deadline, number of the namespace, and the lengths of scope and response. */
    private static final int FRAME_BYTES = 6;

    /** A slot of the index is 8 bytes, and about 70% of them are in use. */
    private static final double INDEX_BYTES = 8 / 0.7;

    private static final int SHARDS = 64;

    /** A shard, its lock, an empty log and index. */
    private static final int SHARD_BYTES = 400;

    /** Checks that there is a rate, and that no size is negative. */
    public WindowSizing {
        if (!(perSecond > 0) || perSecond == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException("messages a second are a positive number, not " + perSecond);
        }
        Lasting.checked(lasting);
        if (Math.min(Math.min(scopeBytes, idBytes), Math.min(Math.min(identityBytes, fingerprintBytes), responseBytes))
                < 0) {
            throw new IllegalArgumentException("a size in bytes is not negative");
        }
    }

    /**
     * A sender's name of 9 bytes, a UUID, a response of 16 bytes and nothing else.
     *
     * @param perSecond messages a second
     * @param lasting how long the window remembers
     * @return a sizing, to be changed by the other methods
     */
    public static WindowSizing of(double perSecond, Duration lasting) {
        return new WindowSizing(perSecond, lasting, 9, UUID_BYTES, 0, 0, 16);
    }

    /**
     * The same with other keys.
     *
     * @param scopeBytes the sender's name in UTF-8
     * @param idBytes as {@link #idBytes()}
     * @return another sizing
     */
    public WindowSizing key(int scopeBytes, int idBytes) {
        return new WindowSizing(
                perSecond, lasting, scopeBytes, idBytes, identityBytes, fingerprintBytes, responseBytes);
    }

    /**
     * The same with other records.
     *
     * @param identityBytes as {@link #identityBytes()}
     * @param fingerprintBytes as {@link #fingerprintBytes()}
     * @return another sizing
     */
    public WindowSizing record(int identityBytes, int fingerprintBytes) {
        return new WindowSizing(
                perSecond, lasting, scopeBytes, idBytes, identityBytes, fingerprintBytes, responseBytes);
    }

    /**
     * The same with other responses.
     *
     * @param responseBytes as {@link #responseBytes()}
     * @return another sizing
     */
    public WindowSizing response(int responseBytes) {
        return new WindowSizing(
                perSecond, lasting, scopeBytes, idBytes, identityBytes, fingerprintBytes, responseBytes);
    }

    /**
     * How many IDs the window holds: rate times time.
     *
     * @return at least 1
     */
    public long ids() {
        return Math.max(1, Math.round(perSecond * (lasting.toNanos() / 1e9)));
    }

    /**
     * What they take on the heap in a {@link CompactWindow}, all in all.
     *
     * @return bytes
     */
    public long bytes() {
        double entries = (double) ids() / SHARDS * entryBytes();
        double chunk = Math.min(Log.LARGEST, Math.max(Log.SMALLEST, entries / Log.CHUNKS));
        // The newest chunk is half empty, and half of the oldest is over.
        double log = entries + chunk + entries / chunk * Chunk.OVERHEAD;
        return Math.round(SHARDS * (log + SHARD_BYTES) + ids() * INDEX_BYTES);
    }

    /**
     * What one ID takes.
     *
     * @return bytes
     */
    public double bytesPerId() {
        return (double) bytes() / ids();
    }

    /** One line for people. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s messages a second for %s: %,d IDs, %,.1f MB (%.0f bytes an ID)",
                perSecond,
                lasting,
                ids(),
                bytes() / 1e6,
                bytesPerId());
    }

    private int entryBytes() {
        int fingerprint = fingerprintBytes == 0 ? 0 : fingerprintBytes + 1;
        int length = responseBytes < 64 ? 0 : responseBytes < 8_192 ? 1 : 2;
        return FRAME_BYTES + scopeBytes + idBytes + identityBytes + fingerprint + length + responseBytes;
    }
}
