package dev.idempotency.redis;

import dev.idempotency.testkit.servers.RedisCluster;
import dev.idempotency.testkit.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** The servers that tests share, each started when first asked for; and clients of others. */
enum RedisServers {
    /** Redis 6.2, one server. */
    SINGLE {
        @Override
        UnifiedJedis start() {
            return client(RedisServer.start("--save", ""));
        }
    },

    /** Redis 6.2, a cluster of three masters. */
    CLUSTER {
        @Override
        UnifiedJedis start() {
            return RedisClusterClient.create(RedisCluster.start("--save", "").ports().stream()
                    .map(port -> new HostAndPort("127.0.0.1", port))
                    .collect(Collectors.toSet()));
        }
    },

    /** The system's own Redis; another one by {@code -Dredis.server=path}. */
    INSTALLED {
        @Override
        UnifiedJedis start() {
            return client(fresh("--save", ""));
        }

        @Override
        RedisServer fresh(String... settings) {
            Path path = Path.of(System.getProperty("redis.server", "/usr/bin/redis-server"));
            Assumptions.assumeTrue(Files.isExecutable(path), "no Redis is installed at " + path);
            return RedisServer.installed(path, settings);
        }
    };

    /** Clients of servers that run. */
    private static final Map<RedisServers, UnifiedJedis> CLIENTS = new EnumMap<>(RedisServers.class);

    abstract UnifiedJedis start();

    /** A single server of its own, of the same version, which the caller closes. */
    RedisServer fresh(String... settings) {
        return RedisServer.start(settings);
    }

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

    static RedisClient client(RedisServer server) {
        return client(server.port(), Duration.ofSeconds(10));
    }

    static RedisClient client(int port, Duration timeout) {
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", port)
                .clientConfig(DefaultJedisClientConfig.builder()
                        .timeoutMillis((int) timeout.toMillis())
                        .build())
                .build();
    }
}
