package dev.idempotency.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** The servers that tests share, each started when first asked for. */
enum RedisServers {
    /** Redis 6.2, one server. */
    SINGLE {
        @Override
        UnifiedJedis start() {
            return RedisServer.start(binary(), "--save", "").client();
        }
    },

    /** Redis 6.2, a cluster of three masters. */
    CLUSTER {
        @Override
        UnifiedJedis start() {
            return RedisClusterClient.create(cluster());
        }
    },

    /** The system's own Redis; another one by {@code -Dredis.server=path}. */
    INSTALLED {
        @Override
        UnifiedJedis start() {
            Path path = Path.of(System.getProperty("redis.server", "/usr/bin/redis-server"));
            Assumptions.assumeTrue(Files.isExecutable(path), "no Redis is installed at " + path);
            return RedisServer.start(path, "--save", "").client();
        }
    };

    private static final int SLOTS = 16_384;

    /** Clients of servers that run. */
    private static final Map<RedisServers, UnifiedJedis> CLIENTS = new EnumMap<>(RedisServers.class);

    abstract UnifiedJedis start();

    /** A client of the shared server, which nobody closes. */
    UnifiedJedis client() {
        synchronized (CLIENTS) {
            UnifiedJedis running = CLIENTS.get(this);
            if (running == null) {
                running = start();
                CLIENTS.put(this, running);
            }
            return running;
        }
    }

    /** Redis 6.2 for this system, out of a jar. */
    static Path binary() {
        return Binary.PATH;
    }

    private static final class Binary {

        static final Path PATH = unpacked();

        private static Path unpacked() {
            String system =
                    System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
            boolean arm = System.getProperty("os.arch").equals("aarch64");
            String name = system.equals("linux") && arm
                    ? "redis-server-6.2.7-linux-arm64"
                    : "redis-server-6.2.6-v5-" + system + (arm ? "-arm64" : "-amd64");
            try (InputStream in = RedisServers.class.getResourceAsStream("/" + name)) {
                Path path = Files.createTempFile("redis-server", "");
                Files.write(path, Objects.requireNonNull(in, name).readAllBytes());
                if (!path.toFile().setExecutable(true)) {
                    throw new IOException("could not make " + path + " executable");
                }
                path.toFile().deleteOnExit();
                return path;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Three masters that have met and share the slots. */
    private static Set<HostAndPort> cluster() {
        List<RedisServer> masters = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            masters.add(RedisServer.start(
                    binary(), "--save", "", "--cluster-enabled", "yes", "--cluster-node-timeout", "5000"));
        }
        Set<HostAndPort> addresses = new LinkedHashSet<>();
        for (int i = 0; i < 3; i++) {
            try (Connection node = masters.get(i).connect()) {
                CommandArguments slots = new CommandArguments(Protocol.Command.CLUSTER).add("ADDSLOTS");
                for (int slot = i * SLOTS / 3; slot < (i + 1) * SLOTS / 3; slot++) {
                    slots.add(slot);
                }
                node.executeCommand(slots);
                node.executeCommand(new CommandArguments(Protocol.Command.CLUSTER)
                        .add("MEET")
                        .add("127.0.0.1")
                        .add(masters.get(0).port));
            }
            addresses.add(masters.get(i).address());
        }
        for (RedisServer master : masters) {
            awaitOk(master);
        }
        return addresses;
    }

    private static void awaitOk(RedisServer master) {
        long began = System.nanoTime();
        try (Connection connection = master.connect()) {
            while (System.nanoTime() - began < TimeUnit.SECONDS.toNanos(60)) {
                connection.sendCommand(Protocol.Command.CLUSTER, "INFO");
                String info = connection.getBulkReply();
                if (info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")) {
                    return;
                }
                Thread.onSpinWait();
            }
        }
        throw new IllegalStateException("the cluster did not form");
    }
}
