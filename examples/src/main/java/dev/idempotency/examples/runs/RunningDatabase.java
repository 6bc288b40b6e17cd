package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.Durability;
import dev.idempotency.testkit.servers.MariadbServer;
import dev.idempotency.testkit.servers.PostgresqlServer;
import dev.idempotency.testkit.servers.RedisCluster;
import dev.idempotency.testkit.servers.RedisServer;
import dev.idempotency.testkit.servers.TestServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.stream.Collectors;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

/** A database that this program has started, or one that was there before and stays as it is. */
final class RunningDatabase implements AutoCloseable {

    private final String url;
    private final @Nullable TestServer server;
    private final AutoCloseable end;

    private RunningDatabase(String url, @Nullable TestServer server, AutoCloseable end) {
        this.url = url;
        this.server = server;
        this.end = end;
    }

    static RunningDatabase existing(String url) {
        return new RunningDatabase(url, null, () -> {});
    }

    static RunningDatabase start(DatabaseKind kind, Durability durability) {
        return switch (kind) {
            case POSTGRESQL -> postgresql(PostgresqlServer.Version.V14, durability);
            case POSTGRESQL17 -> postgresql(PostgresqlServer.Version.V17, durability);
            case MARIADB -> mariadb(durability);
            case H2 -> h2();
            case REDIS -> redis(durability);
            case REDIS_CLUSTER -> redisCluster(durability);
        };
    }

    private static RunningDatabase postgresql(PostgresqlServer.Version version, Durability durability) {
        PostgresqlServer server = PostgresqlServer.start(version, durability);
        return new RunningDatabase(server.url(), server, server);
    }

    private static RunningDatabase mariadb(Durability durability) {
        MariadbServer server = MariadbServer.start(durability);
        try (Connection connection = DriverManager.getConnection(server.url(""));
                Statement statement = connection.createStatement()) {
            statement.execute("create database runs");
        } catch (SQLException e) {
            throw new IllegalStateException("no database could be made", e);
        }
        return new RunningDatabase(server.url("runs"), server, server);
    }

    private static RunningDatabase redis(Durability durability) {
        return redis(RedisServer.start(redisSettings(durability)));
    }

    private static RunningDatabase redisCluster(Durability durability) {
        RedisCluster cluster = RedisCluster.start(redisSettings(durability));
        String masters =
                cluster.ports().stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        return new RunningDatabase("redis://" + masters, null, cluster);
    }

    /** A Redis that this program has started in its own way, and ends. */
    static RunningDatabase redis(TestServer server) {
        return new RunningDatabase("redis://127.0.0.1:" + server.port(), server, server);
    }

    private static String[] redisSettings(Durability durability) {
        return durability == Durability.DURABLE
                ? new String[] {"--save", "", "--appendonly", "yes", "--appendfsync", "always"}
                : new String[] {"--save", ""};
    }

    /** In this process's memory, and open to other processes; nothing about it is durable. */
    private static RunningDatabase h2() {
        try {
            Server server =
                    Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
            String url = "jdbc:h2:tcp://localhost:" + server.getPort() + "/mem:" + UUID.randomUUID()
                    + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000";
            return new RunningDatabase(url, null, server::stop);
        } catch (SQLException e) {
            throw new IllegalStateException("H2 did not start", e);
        }
    }

    String url() {
        return url;
    }

    /** The server, if it can be lost. */
    @Nullable
    TestServer server() {
        return server;
    }

    @Override
    public void close() {
        try {
            end.close();
        } catch (Exception e) {
            throw new IllegalStateException("the database could not be stopped", e);
        }
    }
}
