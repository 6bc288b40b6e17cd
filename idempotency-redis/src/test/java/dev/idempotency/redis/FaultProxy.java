package dev.idempotency.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Stands in front of a server, and lets requests through and replies not, for a while. */
final class FaultProxy implements AutoCloseable {

    private enum Fault {
        NONE,
        /** The server did what it was told, and its reply comes late. */
        HOLD,
        /** The server did what it was told, and the connection is cut before its reply. */
        CUT
    }

    private final int target;
    private final ServerSocket server;
    private final Collection<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile Fault fault = Fault.NONE;
    private final AtomicInteger remaining = new AtomicInteger();
    private volatile @Nullable CountDownLatch held;

    FaultProxy(int target) throws IOException {
        this.target = target;
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** How often something was sent to the server. */
    int requests() {
        return requests.get();
    }

    /** Cuts the connection in place of each of the next replies. */
    void cut(int replies) {
        remaining.set(replies);
        fault = Fault.CUT;
    }

    /** Holds each of the next replies back until {@link #letGo}, and lets those go that are held by now. */
    void hold(int replies) {
        CountDownLatch before = held;
        held = new CountDownLatch(1);
        remaining.set(replies);
        fault = Fault.HOLD;
        if (before != null) {
            before.countDown();
        }
    }

    /** No faults from here on. */
    void heal() {
        fault = Fault.NONE;
    }

    void letGo() {
        CountDownLatch latch = held;
        if (latch != null) {
            latch.countDown();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket client = server.accept();
                Socket behind = new Socket(InetAddress.getLoopbackAddress(), target);
                client.setTcpNoDelay(true);
                behind.setTcpNoDelay(true);
                sockets.add(client);
                sockets.add(behind);
                thread(() -> requests(client, behind));
                thread(() -> replies(behind, client));
            }
        } catch (IOException closed) {
            close();
        }
    }

    private void requests(Socket from, Socket to) {
        pump(from, to, () -> {
            requests.incrementAndGet();
            return true;
        });
    }

    private void replies(Socket from, Socket to) {
        pump(from, to, () -> {
            Fault now = fault;
            if (now == Fault.NONE) {
                return true;
            }
            if (remaining.decrementAndGet() <= 0) {
                fault = Fault.NONE;
            }
            CountDownLatch latch = held;
            if (now == Fault.HOLD && latch != null) {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return true;
            }
            return false;
        });
    }

    private interface Gate {
        boolean passes();
    }

    private static void pump(Socket from, Socket to, Gate gate) {
        byte[] buffer = new byte[1 << 16];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read >= 0 && gate.passes(); read = in.read(buffer)) {
                out.write(buffer, 0, read);
                out.flush();
            }
        } catch (IOException closed) {
            // The other side hears of it when both are closed.
        }
    }

    private static void thread(Runnable work) {
        Thread thread = new Thread(work, "proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        letGo();
        try {
            server.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
