package dev.idempotency.testkit.servers;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Redis 6.2 server, or one that is installed. The binary of 6.2 is in the jar {@code com.github.codemonstur:embedded-redis},
 * which is to be on the class path.
 */
public final class RedisServer implements TestServer {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);
    private static final int MILLIS = 1_000;
    private static final int HIGHEST_PORT = 65_535;
    private static final int BUS_ABOVE = 10_000;

    private final Path folder;
    private final int port;
    private final List<String> command = new ArrayList<>();
    private final Thread closer = new Thread(this::end, "redis-closer");
    private @Nullable Process process;

    private RedisServer(@Nullable Path installed, String file, List<String> settings) throws IOException {
        folder = ServerFolder.create("redis");
        port = freePort();
        Path binary = installed == null ? unpacked() : installed;
        command.add(binary.toString());
        if (!file.isEmpty()) {
            command.add(Files.writeString(folder.resolve("redis.conf"), file, StandardCharsets.UTF_8)
                    .toString());
        }
        command.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1"));
        command.addAll(List.of("--dir", folder.toString(), "--loglevel", "warning"));
        command.addAll(settings);
    }

    private Path unpacked() throws IOException {
        Path binary = folder.resolve("redis-server");
        try (InputStream in = RedisServer.class.getClassLoader().getResourceAsStream(binaryName())) {
            if (in == null) {
                throw new FileNotFoundException("no " + binaryName() + " is on the class path");
            }
            Files.copy(in, binary);
        }
        if (!binary.toFile().setExecutable(true)) {
            throw new IOException("could not make " + binary + " executable");
        }
        return binary;
    }

    /** One that leaves room for the bus of a cluster, which listens 10,000 above. */
    private static int freePort() throws IOException {
        while (true) {
            int port = ServerFolder.freePort();
            if (port < HIGHEST_PORT - BUS_ABOVE) {
                return port;
            }
        }
    }

    /**
     * Starts a server.
     *
     * @param settings in the way of a command line, such as {@code "--appendonly", "yes"}
     * @return the server, which takes connections
     * @throws NotStarted if it does not start
     */
    public static RedisServer start(String... settings) {
        return started(null, "", settings);
    }

    /**
     * Starts a server from a binary that is there already, of any version.
     *
     * @param binary the program {@code redis-server}
     * @param settings in the way of a command line, such as {@code "--appendonly", "yes"}
     * @return the server, which takes connections
     * @throws NotStarted if it does not start
     */
    public static RedisServer installed(Path binary, String... settings) {
        return started(binary, "", settings);
    }

    /** Starts a sentinel, which keeps what it learns in its file. */
    static RedisServer sentinel(String file) {
        return started(null, file, "--sentinel");
    }

    private static RedisServer started(@Nullable Path binary, String file, String... settings) {
        try {
            RedisServer server = new RedisServer(binary, file, List.of(settings));
            Runtime.getRuntime().addShutdownHook(server.closer);
            server.restart();
            return server;
        } catch (IOException e) {
            throw new NotStarted("Redis", e);
        }
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void restart() {
        if (process != null) {
            throw new IllegalStateException("the server runs already");
        }
        try {
            Process started = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile())
                    .start();
            process = started;
            for (long began = System.nanoTime(); System.nanoTime() - began < PATIENCE; Thread.onSpinWait()) {
                if (answers()) {
                    return;
                }
                if (!started.isAlive()) {
                    process = null;
                    throw new IOException(
                            "it ended at once: " + Files.readString(folder.resolve("log"), StandardCharsets.UTF_8));
                }
            }
            throw new IOException("it did not answer in time");
        } catch (IOException e) {
            throw new NotStarted("Redis", e);
        }
    }

    /** One that still loads its data answers with an error. */
    private boolean answers() {
        try {
            return command("PING").equals("+PONG");
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Runs a command of words without blanks, on a connection of its own: a bulk reply's text, or the line of a simple one. */
    String command(String words) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
            socket.setSoTimeout(MILLIS);
            socket.getOutputStream().write((words + "\r\n").getBytes(StandardCharsets.US_ASCII));
            String line = in.readLine();
            if (line == null || line.startsWith("-")) {
                throw new IOException("Redis answers: " + line);
            }
            if (!line.startsWith("$")) {
                return line;
            }
            char[] text = new char[Integer.parseInt(line.substring(1))];
            int length = 0;
            for (int more = 0; more >= 0 && length < text.length; length += Math.max(0, more)) {
                more = in.read(text, length, text.length - length);
            }
            return new String(text, 0, length);
        }
    }

    /**
     * Stops the process where it is, with its connections open, until it is {@linkplain #thaw thawed}.
     *
     * @throws IllegalStateException if the server does not run
     */
    public void freeze() {
        signal("STOP");
    }

    /**
     * Lets a frozen process go on.
     *
     * @throws IllegalStateException if the server does not run
     */
    public void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException("the server does not run");
        }
        try {
            ServerFolder.awaitEnd(new ProcessBuilder("kill", "-" + name, Long.toString(running.pid()))
                    .start()
                    .toHandle());
        } catch (IOException e) {
            throw new IllegalStateException("no signal could be sent", e);
        }
    }

    @Override
    public void stop() {
        Process running = process;
        if (running != null) {
            running.destroy();
            ServerFolder.awaitEnd(running.toHandle());
            process = null;
        }
    }

    @Override
    public void kill() {
        Process running = process;
        if (running != null) {
            ServerFolder.kill(running.toHandle());
            process = null;
        }
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(closer);
        end();
    }

    private void end() {
        kill();
        ServerFolder.delete(folder);
    }

    private static String binaryName() {
        boolean mac = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac");
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        return !mac && arm
                ? "redis-server-6.2.7-linux-arm64"
                : "redis-server-6.2.6-v5-" + (mac ? "darwin" : "linux") + (arm ? "-arm64" : "-amd64");
    }
}
