package dev.idempotency.window;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A place in an array of bytes that moves on as it is read or written. Not safe for use by several threads. */
final class Cursor {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final byte[] bytes;
    private int at;

    Cursor(byte[] bytes, int at) {
        this.bytes = bytes;
        this.at = at;
    }

    int at() {
        return at;
    }

    int readByte() {
        return bytes[at++] & 0xFF;
    }

    void writeByte(int value) {
        bytes[at++] = (byte) value;
    }

    long readLong() {
        long value = (long) LONGS.get(bytes, at);
        at += Long.BYTES;
        return value;
    }

    void writeLong(long value) {
        LONGS.set(bytes, at, value);
        at += Long.BYTES;
    }

    /** A number of either sign in as few bytes as it needs, at most ten. */
    long readNumber() {
        long folded = 0;
        for (int shift = 0; ; shift += 7) {
            long part = bytes[at++];
            folded |= (part & 0x7F) << shift;
            if (part >= 0) {
                return folded >>> 1 ^ -(folded & 1);
            }
        }
    }

    void writeNumber(long value) {
        long folded = value << 1 ^ value >> 63;
        for (; (folded & ~0x7FL) != 0; folded >>>= 7) {
            bytes[at++] = (byte) (folded | 0x80);
        }
        bytes[at++] = (byte) folded;
    }

    static int sizeOfNumber(long value) {
        long folded = value << 1 ^ value >> 63;
        return Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(folded) + 6) / 7);
    }

    byte[] readBytes(int length) {
        byte[] read = Arrays.copyOfRange(bytes, at, at + length);
        at += length;
        return read;
    }

    void writeBytes(byte[] value) {
        System.arraycopy(value, 0, bytes, at, value.length);
        at += value.length;
    }

    void skip(int length) {
        at += length;
    }

    /** A text of at most 255 bytes of UTF-8. */
    void writeText(String text) {
        int start = at++;
        int length = text.length();
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                at = start + 1;
                writeBytes(text.getBytes(StandardCharsets.UTF_8));
                bytes[start] = (byte) (at - start - 1);
                return;
            }
            bytes[at++] = (byte) c;
        }
        bytes[start] = (byte) length;
    }

    String readText() {
        int length = readByte();
        String text = new String(bytes, at, length, StandardCharsets.UTF_8);
        at += length;
        return text;
    }

    /** Whether a text stands here; moves behind it, whatever it is. */
    boolean readIfText(String text) {
        int size = readByte();
        int start = at;
        at += size;
        int length = text.length();
        if (length > size) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                return Arrays.equals(bytes, start, at, utf8, 0, utf8.length);
            }
            if (bytes[start + i] != c) {
                return false;
            }
        }
        return length == size;
    }

    static int sizeOfText(String text) {
        int size = 1;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            size += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return size;
    }
}
