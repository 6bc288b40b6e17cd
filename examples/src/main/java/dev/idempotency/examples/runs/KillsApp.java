package dev.idempotency.examples.runs;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.testkit.ChildJvm;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.UUID;

/**
 * An application that is killed: it takes keys from senders over connections, executes them through its service, and
 * answers. Its line tells the port; it ends when its standard input does.
 */
final class KillsApp {

    /** The first letter of each answer. */
    static final char EXECUTED = 'E';

    static final char REPLAYED = 'R';

    static final char IN_PROGRESS = 'P';
    static final char WRONG = 'W';
    static final char FAILED = 'F';

    private final ServiceSettings settings;
    private final Service service;
    private final String process = UUID.randomUUID().toString();

    private KillsApp(ServiceSettings settings) {
        this.settings = settings;
        this.service = open(settings);
    }

    /** The program that the run starts. */
    public static void main(String[] arguments) throws IOException {
        KillsApp app = new KillsApp(ServiceSettings.of(arguments));
        ServerSocket server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        System.out.println(server.getLocalPort());
        ChildJvm.awaitGo();
        Thread accept = new Thread(() -> app.accept(server), "accept");
        accept.setDaemon(true);
        accept.start();
        while (System.in.read() != -1) {
            // Whatever the parent says: it lives.
        }
        Runtime.getRuntime().halt(0);
    }

    /** The database may be down at the moment. */
    private static Service open(ServiceSettings settings) {
        while (true) {
            try {
                return settings.open();
            } catch (RuntimeException e) {
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void accept(ServerSocket server) {
        try {
            while (true) {
                Socket socket = server.accept();
                Thread thread = new Thread(() -> serve(socket), "connection");
                thread.setDaemon(true);
                thread.start();
            }
        } catch (IOException e) {
            throw new IllegalStateException("the application hears nobody", e);
        }
    }

    private void serve(Socket socket) {
        try (socket;
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()))) {
            while (true) {
                long number = in.readLong();
                int copy = in.readInt();
                out.writeUTF(answer(number, copy));
                out.writeLong(service.takeovers());
                out.flush();
            }
        } catch (IOException e) {
            // The sender is gone.
        }
    }

    /** Whether the sender may forget its key. */
    static boolean acknowledges(String answer) {
        return answer.charAt(0) == EXECUTED || answer.charAt(0) == REPLAYED;
    }

    private String answer(long number, int copy) {
        String response = process + "/" + copy;
        try {
            Outcome<String> outcome = service.send(
                    Keys.request(settings.run(), number, copy), new Effect(number, response, Duration.ZERO));
            if (outcome instanceof InProgress<String> inProgress) {
                return IN_PROGRESS + "" + inProgress.retryAfter().toMillis();
            }
            if (outcome instanceof Mismatch || outcome instanceof Conflict) {
                return WRONG + outcome.toString();
            }
            return (outcome instanceof Executed ? EXECUTED : REPLAYED) + outcome.response();
        } catch (RuntimeException e) {
            return FAILED + e.getClass().getSimpleName();
        }
    }
}
