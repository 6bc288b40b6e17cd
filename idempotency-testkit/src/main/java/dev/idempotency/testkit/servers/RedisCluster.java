package dev.idempotency.testkit.servers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A cluster of three Redis 6.2 masters without replicas, which share the slots evenly. It ends with the JVM that has started
 * it, unless that JVM is killed.
 */
public final class RedisCluster implements AutoCloseable {

    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final List<RedisServer> masters = new ArrayList<>();

    private RedisCluster() {}

    /**
     * Starts a cluster.
     *
     * @param settings of each master, in the way of a command line, such as {@code "--appendonly", "yes"}
     * @return the cluster, each master of which knows the others and takes commands
     * @throws NotStarted if it does not start
     */
    public static RedisCluster start(String... settings) {
        List<String> all = new ArrayList<>(List.of("--cluster-enabled", "yes", "--cluster-node-timeout", "5000"));
        // Of two settings of one name the last one counts.
        all.addAll(List.of(settings));
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < MASTERS; i++) {
                cluster.masters.add(RedisServer.start(all.toArray(String[]::new)));
            }
            cluster.meet();
            return cluster;
        } catch (IOException e) {
            cluster.close();
            throw new NotStarted("a cluster of Redis", e);
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    /**
     * Where the masters listen.
     *
     * @return ports of this machine
     */
    public List<Integer> ports() {
        return masters.stream().map(RedisServer::port).toList();
    }

    /**
     * The masters, each of which can be lost.
     *
     * @return in the order of their slots
     */
    public List<RedisServer> masters() {
        return List.copyOf(masters);
    }

    /** Ends the masters and deletes their data. */
    @Override
    public void close() {
        masters.forEach(RedisServer::close);
    }

    private void meet() throws IOException {
        for (int i = 0; i < MASTERS; i++) {
            RedisServer master = masters.get(i);
            master.command(IntStream.range(i * SLOTS / MASTERS, (i + 1) * SLOTS / MASTERS)
                    .mapToObj(Integer::toString)
                    .collect(Collectors.joining(" ", "CLUSTER ADDSLOTS ", "")));
            if (i > 0) {
                master.command("CLUSTER MEET 127.0.0.1 " + masters.get(0).port());
            }
        }
        long began = System.nanoTime();
        for (RedisServer master : masters) {
            while (!isWhole(master.command("CLUSTER INFO"))) {
                if (System.nanoTime() - began > PATIENCE) {
                    throw new IOException("the masters did not find one another in time");
                }
                Thread.onSpinWait();
            }
        }
    }

    private static boolean isWhole(String info) {
        return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MASTERS);
    }
}
