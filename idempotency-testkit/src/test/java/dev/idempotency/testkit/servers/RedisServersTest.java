package dev.idempotency.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A cluster and a pair under sentinels start, lose servers, and leave no process behind. */
class RedisServersTest {

    private static <S> S started(Supplier<S> start) {
        Set<Long> before = processes();
        try {
            return start.get();
        } catch (NotStarted e) {
            assertThat(processes()).as("processes after %s", e).isEqualTo(before);
            return abort(e.toString());
        }
    }

    private static Set<Long> processes() {
        return ProcessHandle.current().children().map(ProcessHandle::pid).collect(Collectors.toSet());
    }

    private static void await(RedisServer server, String question, String answer) {
        for (long began = System.nanoTime(); !answers(server, question, answer); Thread.onSpinWait()) {
            assertThat(System.nanoTime() - began).as(question).isLessThan(TimeUnit.SECONDS.toNanos(60));
        }
    }

    /** A sentinel ends the connections of a server whose role it changes. */
    private static boolean answers(RedisServer server, String question, String answer) {
        try {
            return server.command(question).contains(answer);
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    @DisplayName("A cluster has all slots on three masters; one that is lost takes the cluster down, and comes back")
    void cluster_startsLosesAndEnds() throws IOException {
        Set<Long> before = processes();
        try (RedisCluster cluster = started(() -> RedisCluster.start("--save", "", "--cluster-node-timeout", "1000"))) {
            List<RedisServer> masters = cluster.masters();
            assertThat(cluster.ports())
                    .hasSize(3)
                    .containsExactlyElementsOf(
                            masters.stream().map(RedisServer::port).toList());
            assertThat(processes()).hasSize(before.size() + 3);
            for (RedisServer master : masters) {
                assertThat(master.command("CLUSTER INFO")).contains("cluster_slots_ok:16384", "cluster_size:3");
            }
            masters.get(2).kill();
            assertThatThrownBy(() -> masters.get(2).command("PING")).isInstanceOf(IOException.class);
            await(masters.get(0), "CLUSTER INFO", "cluster_state:fail");
            masters.get(2).restart();
            await(masters.get(0), "CLUSTER INFO", "cluster_state:ok");
        }
        assertThat(processes()).isEqualTo(before);
    }

    @Test
    @DisplayName("Sentinels promote the replica of a primary that is lost")
    void sentinel_primaryLost_promotesTheReplica() {
        Set<Long> before = processes();
        try (RedisSentinel servers = started(() -> RedisSentinel.start("--save", ""))) {
            assertThat(processes()).hasSize(before.size() + 5);
            servers.primary().kill();
            await(servers.replica(), "INFO replication", "role:master");
        }
        assertThat(processes()).isEqualTo(before);
    }
}
