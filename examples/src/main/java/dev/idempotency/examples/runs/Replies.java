package dev.idempotency.examples.runs;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLongArray;

/** A mark of eight bytes for the reply that each key got, however often. Zero: no reply. */
final class Replies {

    private final AtomicLongArray marks;

    Replies(int keys) {
        marks = new AtomicLongArray(keys);
    }

    /** Whether this is the reply that the key got before, or the first one. */
    boolean same(int key, String reply) {
        long mark = mark(reply);
        return marks.compareAndSet(key, 0, mark) || marks.get(key) == mark;
    }

    boolean has(int key) {
        return marks.get(key) != 0;
    }

    int size() {
        return marks.length();
    }

    void write(Path file) throws IOException {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (int i = 0; i < marks.length(); i++) {
                out.writeLong(marks.get(i));
            }
        }
    }

    /** For how many keys the replies in a file are others than these. */
    long others(Path file) throws IOException {
        long others = 0;
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            for (int i = 0; i < marks.length(); i++) {
                long mark = in.readLong();
                if (mark != 0 && mark != marks.get(i)) {
                    others++;
                }
            }
        }
        return others;
    }

    /** 64 bits of FNV-1a, spread; never zero. */
    private static long mark(String reply) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < reply.length(); i++) {
            hash = (hash ^ reply.charAt(i)) * 0x100000001b3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0x9e3779b97f4a7c15L;
        return hash == 0 ? 1 : hash;
    }
}
