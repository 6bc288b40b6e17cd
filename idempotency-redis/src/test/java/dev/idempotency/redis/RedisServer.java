package dev.idempotency.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** A Redis of its own: a process on a free port with a directory of its own, ended with this JVM at the latest. */
final class RedisServer implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    final int port;
    private final List<String> command = new ArrayList<>();
    private final Path directory;
    private @Nullable Process process;

    private RedisServer(Path binary, int port, Path directory, String... settings) {
        this.port = port;
        this.directory = directory;
        command.addAll(List.of(binary.toString(), "--port", Integer.toString(port), "--bind", "127.0.0.1"));
        command.addAll(List.of("--dir", directory.toString(), "--loglevel", "warning"));
        command.addAll(List.of(settings));
        Runtime.getRuntime().addShutdownHook(new Thread(this::kill));
    }

    /** Starts one, with settings in the way of a command line: {@code "--appendonly", "yes"}. */
    static RedisServer start(Path binary, String... settings) {
        try {
            RedisServer server = new RedisServer(binary, freePort(), Files.createTempDirectory("redis"), settings);
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts it again on what its directory has, after {@link #kill}. */
    void start() {
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (long began = System.nanoTime(); System.nanoTime() - began < PATIENCE; Thread.onSpinWait()) {
            try (Connection connection = connect()) {
                // A server that still loads its file answers with an error.
                connection.executeCommand(Protocol.Command.DBSIZE);
                return;
            } catch (JedisException e) {
                if (!process.isAlive()) {
                    break;
                }
            }
        }
        throw new IllegalStateException("Redis did not start; its log is in " + directory);
    }

    /** Ends it as a power cut would: at once. */
    void kill() {
        Process running = process;
        if (running != null) {
            running.destroyForcibly().onExit().join();
        }
    }

    /** Stops it where it is, or lets it go on: {@code "STOP"} or {@code "CONT"}. */
    void signal(String name) throws IOException, InterruptedException {
        Process running = process;
        if (running != null) {
            new ProcessBuilder("kill", "-" + name, Long.toString(running.pid()))
                    .start()
                    .waitFor();
        }
    }

    HostAndPort address() {
        return new HostAndPort("127.0.0.1", port);
    }

    Connection connect() {
        Connection connection = new Connection(address());
        connection.connect();
        return connection;
    }

    RedisClient client() {
        return client(port, Duration.ofSeconds(10));
    }

    static RedisClient client(int port, Duration timeout) {
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", port)
                .clientConfig(DefaultJedisClientConfig.builder()
                        .timeoutMillis((int) timeout.toMillis())
                        .build())
                .build();
    }

    @Override
    public void close() {
        kill();
    }

    private static int freePort() throws IOException {
        while (true) {
            // The bus of a cluster listens 10,000 above.
            try (ServerSocket socket = new ServerSocket(0)) {
                int port = socket.getLocalPort();
                if (port < 55_000) {
                    return port;
                }
                return port - 12_000;
            }
        }
    }
}
