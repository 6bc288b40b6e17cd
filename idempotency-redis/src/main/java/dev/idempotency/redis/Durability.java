package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.KeyValue;

/**
 * By what a Redis could lose records: asked once, of each master.
 *
 * <ol>
 *   <li>{@code INFO} says the version, the role, the policy of a full memory, whether there is an append-only file, and how
 *       many replicas are there. Managed services allow it too.
 *   <li>{@code CONFIG GET} says how often that file reaches the disk, and whether there are snapshots. Where it is
 *       forbidden, that is warned of as unknown.
 *   <li>Where disks are to confirm, {@code WAITAOF} is tried.
 * </ol>
 *
 * <p>An evicting policy is refused even where the memory has no limit yet: the limit can be set on a running server.
 */
final class Durability {

    private final Map<String, String> info;
    private final Map<String, String> config;

    private Durability(Map<String, String> info, Map<String, String> config) {
        this.info = info;
        this.config = config;
    }

    /** One server that can be asked. */
    @FunctionalInterface
    private interface Server {
        @Nullable
        Object ask(CommandArguments command);
    }

    /**
     * Refuses what may not be, and warns of the rest.
     *
     * @return by what records could be lost, a sentence for each finding
     * @throws StoreException if an evicting policy is not accepted, or Redis is too old
     * @throws RetryableException if Redis can't be reached
     */
    static List<String> check(UnifiedJedis client, RedisLeaseOptions options) {
        Set<String> warnings = new LinkedHashSet<>();
        try {
            if (client instanceof RedisClusterClient cluster) {
                for (ConnectionPool pool : cluster.getClusterNodes().values()) {
                    try (Connection connection = pool.getResource()) {
                        judge(connection::executeCommand, options, warnings);
                    }
                }
            } else {
                judge(client::executeCommand, options, warnings);
            }
            return List.copyOf(warnings);
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) {
            RuntimeException translated = RedisFailures.translated(e);
            throw translated == e
                    ? new RetryableException("Redis did not say how it keeps what it is told", e)
                    : translated;
        }
    }

    private static void judge(Server server, RedisLeaseOptions options, Set<String> warnings) {
        Durability found = of(server);
        if (!found.info("role").equals("slave")) {
            found.judge(options, warnings);
            if (options.confirmation().fsynced()) {
                tryWaitAof(server);
            }
        }
    }

    /** One that does not know it, and one without a file, say so at once. */
    private static void tryWaitAof(Server server) {
        try {
            server.ask(command(Protocol.Command.WAITAOF, "1", "0", "1"));
        } catch (JedisDataException e) {
            RuntimeException translated = RedisFailures.translated(e);
            throw translated instanceof StoreException
                    ? new StoreException(
                            "RedisLeaseOptions.fsyncedBy needs WAITAOF (Redis 7.2 or newer) and an append-only file"
                                    + " (appendonly yes); Redis answers: " + e.getMessage(),
                            e)
                    : translated;
        }
    }

    private static Durability of(Server server) {
        Map<String, String> info = new HashMap<>();
        for (String section : new String[] {"server", "memory", "persistence", "replication"}) {
            for (String line : text(server.ask(command(Protocol.Command.INFO, section)))
                    .lines()
                    .toList()) {
                int colon = line.indexOf(':');
                if (colon > 0) {
                    info.put(line.substring(0, colon), line.substring(colon + 1));
                }
            }
        }
        Map<String, String> config = new HashMap<>();
        for (String name : new String[] {"appendfsync", "save"}) {
            String value = configured(server, name);
            if (value != null) {
                config.put(name, value);
            }
        }
        return new Durability(info, config);
    }

    private void judge(RedisLeaseOptions options, Set<String> warnings) {
        if (olderThan(info("redis_version"), 6, 2)) {
            throw new StoreException("Redis " + info("redis_version") + " is too old: 6.2 or newer is needed", null);
        }
        String policy = info("maxmemory_policy");
        if (!policy.equals("noeviction")) {
            String what = "Redis removes records when its memory is full (maxmemory-policy is "
                    + (policy.isEmpty() ? "not told" : policy)
                    + "), and a message whose record is removed is executed again";
            if (!policy.isEmpty() && !options.evictionAccepted()) {
                throw new StoreException(
                        what + ": set maxmemory-policy to noeviction, or accept it with"
                                + " RedisLeaseOptions.acceptEviction",
                        null);
            }
            warnings.add(what);
        }
        boolean snapshots = !"".equals(config.get("save"));
        if (!info("aof_enabled").equals("1")) {
            warnings.add(
                    snapshots
                            ? "Redis has no append-only file (appendonly no): a restart loses all records since the"
                                    + " last snapshot, if there was one"
                            : "Redis keeps nothing on disk (appendonly no, save \"\"): a restart loses all records");
        } else if (!"always".equals(config.get("appendfsync"))
                && !options.confirmation().fsynced()) {
            warnings.add("Redis writes to its disk now and then (appendfsync is "
                    + config.getOrDefault("appendfsync", "not told")
                    + "): a crash of the machine loses the records of the last second or more");
        }
        String replicas = info("connected_slaves");
        int wanted = options.confirmation().replicas();
        if (wanted > 0 && (replicas.isEmpty() || Integer.parseInt(replicas) < wanted)) {
            warnings.add("Redis has " + replicas + " replicas now, and " + wanted
                    + " are to confirm each record: every call will fail");
        } else if (wanted == 0 && !replicas.equals("0")) {
            warnings.add("a failover loses the records that had not reached the replica (no replica is waited for, see"
                    + " RedisLeaseOptions.confirmedBy)");
        }
    }

    private String info(String name) {
        return info.getOrDefault(name, "");
    }

    private static @Nullable String configured(Server server, String name) {
        try {
            Object answer = server.ask(command(Protocol.Command.CONFIG, "GET", name));
            if (!(answer instanceof List<?> found) || found.isEmpty()) {
                return null;
            }
            // RESP3 has pairs where RESP2 has a flat list.
            Object value = found.get(0) instanceof KeyValue<?, ?> pair ? pair.getValue() : found.get(found.size() - 1);
            return value == null ? null : text(value);
        } catch (JedisDataException forbidden) {
            return null;
        }
    }

    private static CommandArguments command(Protocol.Command command, String... words) {
        CommandArguments arguments = new CommandArguments(command);
        for (String word : words) {
            arguments.add(word);
        }
        return arguments;
    }

    private static String text(@Nullable Object answer) {
        return answer instanceof byte[] bytes
                ? new String(bytes, StandardCharsets.UTF_8)
                : Objects.toString(answer, "");
    }

    private static boolean olderThan(String version, int major, int minor) {
        String[] parts = version.split("\\.", 3);
        try {
            int first = Integer.parseInt(parts[0]);
            return first < major || (first == major && Integer.parseInt(parts[1]) < minor);
        } catch (RuntimeException unusual) {
            return false;
        }
    }
}
