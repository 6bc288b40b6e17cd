package dev.idempotency.examples.runs;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A port of this machine behind which is another one, and later yet another. What the server sends may be made to take its
 * time, and is lost if the connection is cut meanwhile.
 */
final class Forwarder implements AutoCloseable {

    private static final int PIECE = 1 << 16;

    private final ServerSocket door;
    private final long lagNanos;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile int target;

    Forwarder(int target, long lagMillis) {
        this.target = target;
        this.lagNanos = TimeUnit.MILLISECONDS.toNanos(lagMillis);
        try {
            door = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("door", this::accept);
    }

    int port() {
        return door.getLocalPort();
    }

    /** Whoever connects from now on gets there; connections that are open are cut. */
    void to(int port) {
        target = port;
        cut();
    }

    /** Ends each connection, and loses what is under way. */
    void cut() {
        open.forEach(this::end);
    }

    private void accept() {
        try {
            while (true) {
                Socket caller = door.accept();
                open.add(caller);
                try {
                    Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                    open.add(server);
                    caller.setTcpNoDelay(true);
                    server.setTcpNoDelay(true);
                    start("there", () -> carry(caller, server));
                    start("back", lagNanos > 0 ? () -> carryLate(server, caller) : () -> carry(server, caller));
                } catch (IOException nobodyThere) {
                    end(caller);
                }
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, "forwarder-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void carry(Socket from, Socket to) {
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                out.write(piece, 0, length);
            }
        } catch (IOException e) {
            // Either side is gone.
        } finally {
            end(from);
            end(to);
        }
    }

    /** Bytes, and when they arrive; none at the end. */
    private record Piece(ByteBuffer bytes, long at) {}

    /** Each piece arrives as late as the others, however many there are. */
    private void carryLate(Socket from, Socket to) {
        BlockingQueue<Piece> underWay = new LinkedBlockingQueue<>();
        start("late", () -> deliver(underWay, to));
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = from.getInputStream();
            for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                underWay.add(new Piece(ByteBuffer.wrap(Arrays.copyOf(piece, length)), System.nanoTime() + lagNanos));
            }
        } catch (IOException e) {
            // The server is gone.
        } finally {
            underWay.add(new Piece(ByteBuffer.allocate(0), System.nanoTime() + lagNanos));
            end(from);
        }
    }

    private void deliver(BlockingQueue<Piece> underWay, Socket to) {
        try {
            OutputStream out = to.getOutputStream();
            for (Piece next = underWay.take(); next.bytes().hasRemaining(); next = underWay.take()) {
                TimeUnit.NANOSECONDS.sleep(next.at() - System.nanoTime());
                out.write(next.bytes().array());
            }
        } catch (IOException e) {
            // The caller is gone.
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        } finally {
            end(to);
        }
    }

    private void end(Socket socket) {
        open.remove(socket);
        try {
            socket.close();
        } catch (IOException e) {
            // It is not used again.
        }
    }

    @Override
    public void close() {
        try {
            door.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cut();
    }
}
