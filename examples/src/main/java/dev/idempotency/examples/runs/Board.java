package dev.idempotency.examples.runs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Where each process of a race says how far it is, in a file that all of them have mapped. It keeps them together: a
 * process that gets ahead of the slowest one waits, so that copies of a key meet.
 */
final class Board {

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private final MappedByteBuffer map;
    private final int processes;

    /** Opens the board; the first one creates it with zeros. */
    Board(Path file, int processes) {
        this.processes = processes;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            map = channel.map(FileChannel.MapMode.READ_WRITE, 0, 2L * Long.BYTES * processes);
        } catch (IOException e) {
            throw new UncheckedIOException("the board could not be opened", e);
        }
    }

    /** This process has come to this key. */
    void at(int process, long key) {
        LONGS.setVolatile(map, 2 * Long.BYTES * process, key);
    }

    /** One more call of this process is answered. */
    void answered(int process) {
        LONGS.getAndAdd(map, 2 * Long.BYTES * process + Long.BYTES, 1L);
    }

    /** Waits while the slowest process is more than so many keys behind. */
    void keepTogether(long key, long ahead) {
        while (key - slowest() > ahead) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private long slowest() {
        long slowest = Long.MAX_VALUE;
        for (int i = 0; i < processes; i++) {
            slowest = Math.min(slowest, (long) LONGS.getVolatile(map, 2 * Long.BYTES * i));
        }
        return slowest;
    }

    /** Calls that all processes together have answered. */
    long answered() {
        long answered = 0;
        for (int i = 0; i < processes; i++) {
            answered += (long) LONGS.getVolatile(map, 2 * Long.BYTES * i + Long.BYTES);
        }
        return answered;
    }
}
