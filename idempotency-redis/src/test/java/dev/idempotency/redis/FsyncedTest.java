package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;

/** {@code WAITAOF}: on the Redis that is installed, or {@code -Dredis.server=path}, if that is 7.2 or newer. */
final class FsyncedTest {

    private static final Duration WITHIN = Duration.ofSeconds(5);

    private final RedisLeaseOptions options = RedisLeaseOptions.defaults();

    private static Request request(int n) {
        return Request.of(IdempotencyKey.of("im", "sender", Integer.toString(n)));
    }

    private static IdempotencyStore<Lease, String> store(RedisClient client, RedisLeaseOptions options) {
        return RedisStores.leased(client, Codec.utf8(), options);
    }

    /** Of a version that knows the command. */
    private static RedisServer started(String... settings) {
        RedisServer server = RedisServers.INSTALLED.fresh(settings);
        try (RedisClient client = RedisServers.client(server)) {
            boolean known = client.info("server")
                    .lines()
                    .filter(line -> line.startsWith("redis_version:"))
                    .noneMatch(line -> line.matches("redis_version:([0-6]\\..*|7\\.[01]\\..*)"));
            if (!known) {
                server.close();
            }
            assumeTrue(known, "the Redis that is installed is older than 7.2");
        }
        return server;
    }

    private static void replicaOf(RedisServer master, RedisServer replica) {
        try (RedisClient toReplica = RedisServers.client(replica);
                RedisClient toMaster = RedisServers.client(master)) {
            toReplica.executeCommand(new CommandArguments(Protocol.Command.REPLICAOF)
                    .add("127.0.0.1")
                    .add(master.port()));
            long began = System.nanoTime();
            while (!toMaster.info("replication").contains("state=online")) {
                assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(60));
            }
        }
    }

    @Test
    @DisplayName("a server that has no WAITAOF is refused at the start")
    void leased_oldServer_isRefused() {
        try (RedisServer server = RedisServer.start("--save", "", "--appendonly", "yes");
                RedisClient client = RedisServers.client(server)) {
            assertThatThrownBy(() -> store(client, options.fsyncedBy(0, WITHIN)))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("fsyncedBy needs WAITAOF (Redis 7.2 or newer)");
            assertThat(store(client, options.fsyncedBy(0, WITHIN).confirmedBy(0, WITHIN))
                            .warnings())
                    .as("the last one called counts")
                    .singleElement()
                    .asString()
                    .contains("appendfsync is everysec");
        }
    }

    @Test
    @DisplayName("a server without an append-only file is refused at the start")
    void leased_noFile_isRefused() {
        try (RedisServer server = started("--save", "");
                RedisClient client = RedisServers.client(server)) {
            assertThatThrownBy(() -> store(client, options.fsyncedBy(0, WITHIN)))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("appendonly yes");
        }
    }

    @Test
    @DisplayName("what is answered is on the disk, with everysec too, and not warned of")
    void call_fsyncedByTheMaster_isOnItsDisk() {
        try (RedisServer server = started("--save", "", "--appendonly", "yes", "--appendfsync", "everysec");
                RedisClient client = RedisServers.client(server)) {
            IdempotencyStore<Lease, String> store = store(client, options.fsyncedBy(0, WITHIN));
            assertThat(store.warnings()).isEmpty();
            Idempotency<Lease, String> service = Idempotency.with(store).build();
            for (int n = 0; n < 3; n++) {
                assertThat(service.execute(request(n), lease -> "run")).isEqualTo(new Outcome.Executed<>("run"));
                assertThat(client.info("persistence")).contains("aof_pending_bio_fsync:0");
                assertThat(service.execute(request(n), lease -> "again")).isInstanceOf(Outcome.Replayed.class);
            }
        }
    }

    @Test
    @DisplayName("a disk that is not written: a claim runs nothing, and a file that is switched off fails calls too")
    void call_diskNotWritten_isTyped() {
        try (RedisServer server = started("--save", "", "--appendonly", "yes", "--appendfsync", "no");
                RedisClient client = RedisServers.client(server)) {
            Idempotency<Lease, String> service = Idempotency.with(
                            store(client, options.fsyncedBy(0, Duration.ofMillis(200))))
                    .build();
            assertThatThrownBy(() -> service.execute(request(1), lease -> "not run"))
                    .isInstanceOf(NotReplicatedException.class)
                    .hasMessageContaining("not the master");
            client.configSet("appendonly", "no");
            assertThatThrownBy(() -> service.execute(request(1), lease -> "not run"))
                    .isInstanceOf(NotReplicatedException.class)
                    .hasMessageContaining("appendonly is disabled");
            client.configSet("appendonly", "yes");
            client.configSet("appendfsync", "always");
            assertThat(service.execute(request(1), lease -> "run")).isEqualTo(new Outcome.Executed<>("run"));
        }
    }

    @Test
    @DisplayName("a replica's disk: too few is typed, for a claim and for a completion")
    void call_replicasDisk_isWaitedFor() {
        try (RedisServer server = started("--save", "", "--appendonly", "yes", "--appendfsync", "always");
                RedisServer replica = started("--save", "", "--appendonly", "yes", "--appendfsync", "always");
                RedisClient client = RedisServers.client(server)) {
            IdempotencyStore<Lease, String> lonely = store(client, options.fsyncedBy(1, Duration.ofMillis(200)));
            assertThat(lonely.warnings()).anyMatch(warning -> warning.contains("every call will fail"));
            assertThatThrownBy(() -> Idempotency.with(lonely).build().execute(request(1), lease -> "not run"))
                    .isInstanceOf(NotReplicatedException.class)
                    .hasMessageContaining("the master and 0 of 1 replicas");
            replicaOf(server, replica);
            // A replica tells of its disk once a second.
            Idempotency<Lease, String> service = Idempotency.with(
                            store(client, options.fsyncedBy(1, Duration.ofSeconds(2))))
                    .build();
            assertThat(service.execute(request(1), lease -> "run")).isEqualTo(new Outcome.Executed<>("run"));
            try {
                assertThatThrownBy(() -> service.execute(request(2), lease -> {
                            replica.freeze();
                            return "run";
                        }))
                        .isInstanceOf(OutcomeUnknownException.class)
                        .hasCauseInstanceOf(NotReplicatedException.class);
            } finally {
                replica.thaw();
            }
        }
    }
}
