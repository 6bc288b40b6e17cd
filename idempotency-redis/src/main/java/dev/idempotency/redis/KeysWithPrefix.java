package dev.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** All keys that begin with something, on one server, or on each of a cluster. */
final class KeysWithPrefix {

    private static final String SCANNED_AT_ONCE = "1000";

    private final UnifiedJedis client;
    private final byte[] prefix;

    KeysWithPrefix(UnifiedJedis client, byte[] prefix) {
        this.client = client;
        this.prefix = prefix;
    }

    /** Removes those that are there now, a thousand at a time, without blocking Redis. */
    void unlink() {
        if (client instanceof RedisClusterClient cluster) {
            for (ConnectionPool pool : cluster.getClusterNodes().values()) {
                try (Connection node = pool.getResource()) {
                    unlink(node::executeCommand);
                }
            }
        } else {
            unlink(client::executeCommand);
        }
    }

    /** A server that is scanned. */
    @FunctionalInterface
    private interface Server {
        Object ask(CommandArguments command);
    }

    private void unlink(Server server) {
        byte[] cursor = {'0'};
        do {
            List<?> answer = (List<?>) server.ask(new CommandArguments(Protocol.Command.SCAN)
                    .add(cursor)
                    .add("MATCH")
                    .add(pattern())
                    .add("COUNT")
                    .add(SCANNED_AT_ONCE));
            cursor = (byte[]) answer.get(0);
            List<byte[]> found = new ArrayList<>();
            ((List<?>) answer.get(1)).forEach(key -> found.add((byte[]) key));
            if (!found.isEmpty()) {
                client.unlink(found.toArray(new byte[0][]));
            }
        } while (cursor.length != 1 || cursor[0] != '0');
    }

    /** The prefix, with what is special in patterns quoted, and anything. */
    private byte[] pattern() {
        String text = new String(prefix, StandardCharsets.US_ASCII);
        return (text.replaceAll("[\\\\*?\\[\\]^]", "\\\\$0") + '*').getBytes(StandardCharsets.US_ASCII);
    }
}
