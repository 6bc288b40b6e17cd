package dev.idempotency.examples.runs;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A port of this machine behind which is another one, and later yet another. What the server sends may be made to take its
 * time, and is lost if the connection is cut meanwhile.
 */
final class Forwarder implements AutoCloseable {

    private static final int PIECE = 1 << 16;

    private final ServerSocket door;
    private final long lagMillis;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile int target;

    Forwarder(int target, long lagMillis) {
        this.target = target;
        this.lagMillis = lagMillis;
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
                    start("there", () -> carry(caller, server, 0));
                    start("back", () -> carry(server, caller, lagMillis));
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

    private void carry(Socket from, Socket to, long lag) {
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                if (lag > 0) {
                    Thread.sleep(lag);
                }
                out.write(piece, 0, length);
            }
        } catch (IOException e) {
            // Either side is gone.
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        } finally {
            end(from);
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
