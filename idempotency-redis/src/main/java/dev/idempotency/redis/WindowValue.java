package dev.idempotency.redis;

import dev.idempotency.Fingerprint;
import dev.idempotency.UnreadableRecordException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a window as one sequence of bytes; numbers are big-endian.
 *
 * <table>
 *   <caption>Version 1</caption>
 *   <tr><th>bytes</th><th>meaning</th></tr>
 *   <tr><td>1</td><td>the version, 1</td></tr>
 *   <tr><td>1</td><td>the kind of identity</td></tr>
 *   <tr><td>1</td><td>how many bytes the fingerprint has; 0 for none</td></tr>
 *   <tr><td>8</td><td>when the record ends, in milliseconds since 1970; 0 if the window lets go of it before</td></tr>
 *   <tr><td>4, 8, 16, or 2 + n</td><td>the identity: an {@link Integer}, a {@link Long}, a {@link UUID}, or a text of n bytes of UTF-8</td></tr>
 *   <tr><td>0 to 64</td><td>the fingerprint</td></tr>
 *   <tr><td>the rest</td><td>the response: {@link dev.idempotency.store.Payload}</td></tr>
 * </table>
 *
 * @param identity a Long, an Integer, a UUID, a String, or a {@link Together}
 * @param fingerprint as it was kept
 * @param ends in milliseconds since 1970, or 0
 * @param payload the response
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record WindowValue(Object identity, @Nullable Fingerprint fingerprint, long ends, byte[] payload) {

    private static final byte VERSION = 1;
    private static final byte TOGETHER = 0;
    private static final byte LONG = 1;
    private static final byte INTEGER = 2;
    private static final byte A_UUID = 3;
    private static final byte TEXT = 4;

    private static final int HEAD = 11;
    private static final int LONGEST_TEXT = 0xFFFF;

    /** The identity of a record whose own has no form in bytes: the same for all names that were put at once. */
    record Together(UUID id) {}

    byte[] toBytes() {
        byte kind = TOGETHER;
        byte[] id = null;
        if (identity instanceof Long number) {
            kind = LONG;
            id = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        } else if (identity instanceof Integer number) {
            kind = INTEGER;
            id = ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
        } else if (identity instanceof UUID uuid) {
            kind = A_UUID;
            id = bytes(uuid);
        } else if (identity instanceof String text) {
            kind = TEXT;
            id = bytes(text);
        }
        if (id == null) {
            kind = TOGETHER;
            id = bytes(identity instanceof Together together ? together.id : UUID.randomUUID());
        }
        byte[] print = fingerprint == null ? new byte[0] : fingerprint.toBytes();
        return ByteBuffer.allocate(HEAD + id.length + print.length + payload.length)
                .put(VERSION)
                .put(kind)
                .put((byte) print.length)
                .putLong(ends)
                .put(id)
                .put(print)
                .put(payload)
                .array();
    }

    /**
     * What the bytes mean.
     *
     * @throws UnreadableRecordException if they mean nothing to this release
     */
    static WindowValue of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (bytes.length < HEAD || buffer.get() != VERSION) {
            throw new UnreadableRecordException(
                    "an entry of the window in Redis is in no format that this release knows: it has " + bytes.length
                            + " bytes" + (bytes.length == 0 ? "" : " and format version " + bytes[0]),
                    null);
        }
        try {
            byte kind = buffer.get();
            byte printed = buffer.get();
            long ends = buffer.getLong();
            Object identity = switch (kind) {
                case TOGETHER -> new Together(uuid(buffer));
                case LONG -> buffer.getLong();
                case INTEGER -> buffer.getInt();
                case A_UUID -> uuid(buffer);
                case TEXT -> new String(next(buffer, buffer.getShort() & 0xFFFF), StandardCharsets.UTF_8);
                default -> throw new BufferUnderflowException();
            };
            Fingerprint fingerprint = printed == 0 ? null : Fingerprint.of(next(buffer, printed));
            return new WindowValue(identity, fingerprint, ends, next(buffer, buffer.remaining()));
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new UnreadableRecordException("an entry of the window in Redis is damaged", e);
        }
    }

    private static byte[] next(ByteBuffer buffer, int length) {
        if (length < 0 || length > buffer.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        return bytes;
    }

    private static UUID uuid(ByteBuffer buffer) {
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    private static byte[] bytes(UUID uuid) {
        return ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    /** With its length in front, or null if it has no form in UTF-8 or is too long. */
    private static byte @Nullable [] bytes(String text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            int length = encoded.remaining();
            return length > LONGEST_TEXT
                    ? null
                    : ByteBuffer.allocate(2 + length)
                            .putShort((short) length)
                            .put(encoded)
                            .array();
        } catch (CharacterCodingException unpairedSurrogate) {
            return null;
        }
    }

    @Override
    public String toString() {
        return "WindowValue[" + Objects.toString(identity) + "]";
    }
}
