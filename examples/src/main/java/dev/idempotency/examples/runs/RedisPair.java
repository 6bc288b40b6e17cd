package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.RedisServer;
import dev.idempotency.testkit.servers.TestServer;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;

/**
 * A Redis with one replica, behind a port that stays the same.
 *
 * <ol>
 *   <li>The replica hears of everything a moment later, as over a network.
 *   <li>{@link #kill}: the master is killed; what was under way to the replica is lost.
 *   <li>{@link #restart}: the replica is promoted ({@code REPLICAOF NO ONE}) and the port leads to it. It gets an empty server
 *       as its replica, in the place of the old master.
 * </ol>
 */
final class RedisPair implements TestServer {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private RedisServer master = start();
    private RedisServer replica = start();
    private final Forwarder door = new Forwarder(master.port(), 0);
    private final Forwarder link;

    RedisPair(long lagMillis) {
        link = new Forwarder(master.port(), lagMillis);
        follow();
        awaitLinked();
    }

    private static RedisServer start() {
        return RedisServer.start("--save", "", "--appendonly", "yes", "--appendfsync", "always");
    }

    private static void replicaOf(RedisServer server, String host, String port) {
        try (RedisClient client = RedisClient.create("127.0.0.1", server.port())) {
            client.executeCommand(
                    new CommandArguments(Protocol.Command.REPLICAOF).add(host).add(port));
        }
    }

    private void follow() {
        replicaOf(replica, "127.0.0.1", Integer.toString(link.port()));
    }

    /** Waits until the replica has a copy and follows. */
    void awaitLinked() {
        long began = System.nanoTime();
        try (RedisClient client = RedisClient.create("127.0.0.1", replica.port())) {
            while (!client.info("replication").contains("master_link_status:up")) {
                if (System.nanoTime() - began > PATIENCE) {
                    throw new IllegalStateException("the replica does not reach its master");
                }
                TimeUnit.MILLISECONDS.sleep(5);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the replica", e);
        }
    }

    @Override
    public int port() {
        return door.port();
    }

    @Override
    public void stop() {
        master.stop();
    }

    @Override
    public void kill() {
        master.kill();
        link.cut();
    }

    @Override
    public void restart() {
        RedisServer dead = master;
        replicaOf(replica, "NO", "ONE");
        master = replica;
        door.to(master.port());
        link.to(master.port());
        dead.close();
        replica = start();
        follow();
    }

    @Override
    public void close() {
        door.close();
        link.close();
        master.close();
        replica.close();
    }
}
