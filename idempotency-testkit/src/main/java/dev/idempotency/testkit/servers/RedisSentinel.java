package dev.idempotency.testkit.servers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Redis 6.2 primary with one replica, and three sentinels that promote the replica when the primary is lost for half a
 * second. It ends with the JVM that has started it, unless that JVM is killed.
 */
public final class RedisSentinel implements AutoCloseable {

    /** What the sentinels call the primary. */
    public static final String NAME = "records";

    private static final int SENTINELS = 3;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final List<RedisServer> all = new ArrayList<>();

    private RedisSentinel() {}

    /**
     * Starts them.
     *
     * @param settings of the primary and the replica, in the way of a command line, such as {@code "--appendonly", "yes"}
     * @return the servers, each of which knows the others
     * @throws NotStarted if they do not start
     */
    public static RedisSentinel start(String... settings) {
        RedisSentinel started = new RedisSentinel();
        try {
            started.all.add(RedisServer.start(settings));
            started.all.add(RedisServer.start(settings));
            started.meet();
            return started;
        } catch (IOException e) {
            started.close();
            throw new NotStarted("Redis with sentinels", e);
        } catch (RuntimeException e) {
            started.close();
            throw e;
        }
    }

    /** The replica first: a sentinel asks a primary for its replicas when it meets it, and then not for a while. */
    private void meet() throws IOException {
        replica().command("REPLICAOF 127.0.0.1 " + primary().port());
        await(replica(), "INFO replication", "master_link_status:up");
        for (int i = 0; i < SENTINELS; i++) {
            all.add(RedisServer.sentinel(String.join(
                    "\n",
                    "sentinel monitor " + NAME + " 127.0.0.1 " + primary().port() + " " + (SENTINELS / 2 + 1),
                    "sentinel down-after-milliseconds " + NAME + " 500",
                    "sentinel failover-timeout " + NAME + " 5000",
                    "")));
        }
        for (RedisServer sentinel : sentinels()) {
            await(
                    sentinel,
                    "INFO sentinel",
                    "status=ok,address=127.0.0.1:" + primary().port() + ",slaves=1,sentinels=3");
        }
    }

    private static void await(RedisServer server, String question, String answer) throws IOException {
        for (long began = System.nanoTime(); !server.command(question).contains(answer); Thread.onSpinWait()) {
            if (System.nanoTime() - began > PATIENCE) {
                throw new IOException("the servers did not find one another in time");
            }
        }
    }

    /**
     * The server that was the primary at the start.
     *
     * @return that server, whatever it is now
     */
    public RedisServer primary() {
        return all.get(0);
    }

    /**
     * The server that was the replica at the start.
     *
     * @return that server, whatever it is now
     */
    public RedisServer replica() {
        return all.get(1);
    }

    /**
     * The sentinels.
     *
     * @return three
     */
    public List<RedisServer> sentinels() {
        return List.copyOf(all.subList(2, all.size()));
    }

    /** Ends all servers and deletes their data. */
    @Override
    public void close() {
        all.forEach(RedisServer::close);
    }
}
