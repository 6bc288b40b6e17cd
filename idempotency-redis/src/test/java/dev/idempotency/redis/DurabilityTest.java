package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;

/** What Redis can lose: what the store says of it, and what it does about it. */
final class DurabilityTest {

    private final RedisLeaseOptions options = RedisLeaseOptions.defaults();

    private List<String> warnings(RedisClient client, RedisLeaseOptions options) {
        return RedisStores.leased(client, Codec.utf8(), options).warnings();
    }

    private static Request request(int n) {
        return Request.of(IdempotencyKey.of("im", "sender", Integer.toString(n)));
    }

    private static void command(RedisClient client, Protocol.Command command, String... words) {
        CommandArguments arguments = new CommandArguments(command);
        for (String word : words) {
            arguments.add(word);
        }
        client.executeCommand(arguments);
    }

    @Test
    @DisplayName("R-7: a store in a Redis that evicts is refused, or warned of if that is accepted")
    void leased_evictingPolicy_isRefusedOrWarnedOf() {
        try (RedisServer server = RedisServer.start("--maxmemory-policy", "volatile-lru");
                RedisClient client = RedisServers.client(server)) {
            assertThatThrownBy(() -> RedisStores.leased(client, Codec.utf8(), options))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("volatile-lru")
                    .hasMessageContaining("acceptEviction");
            assertThat(warnings(client, options.acceptEviction()))
                    .anyMatch(warning -> warning.contains("volatile-lru"));
        }
    }

    @Test
    @DisplayName("what a restart can lose is warned of, and CONFIG need not be allowed")
    void leased_persistence_isWarnedOf() {
        try (RedisServer server = RedisServer.start("--save", "");
                RedisClient client = RedisServers.client(server)) {
            assertThat(warnings(client, options)).singleElement().asString().contains("keeps nothing on disk");
            command(client, Protocol.Command.CONFIG, "SET", "appendonly", "yes");
            assertThat(warnings(client, options)).singleElement().asString().contains("appendfsync is everysec");
            command(client, Protocol.Command.CONFIG, "SET", "appendfsync", "always");
            assertThat(warnings(client, options)).isEmpty();
            command(client, Protocol.Command.ACL, "SETUSER", "default", "-config");
            assertThat(warnings(client, options)).singleElement().asString().contains("appendfsync is not told");
        }
    }

    @Test
    @DisplayName("too few replicas: a claim runs nothing and gives the key back, a completion is unknown")
    void call_tooFewReplicas_isTyped() {
        try (RedisServer server = RedisServer.start();
                RedisServer replica = RedisServer.start();
                RedisClient client = RedisServers.client(server);
                RedisClient toReplica = RedisServers.client(replica)) {
            IdempotencyStore<Lease, String> store =
                    RedisStores.leased(client, Codec.utf8(), options.confirmedBy(1, Duration.ofMillis(200)));
            assertThat(store.warnings()).anyMatch(warning -> warning.contains("every call will fail"));
            Idempotency<Lease, String> service = Idempotency.with(store).build();
            assertThatThrownBy(() -> service.execute(request(1), lease -> "not run"))
                    .isInstanceOf(NotReplicatedException.class);

            command(toReplica, Protocol.Command.REPLICAOF, "127.0.0.1", Integer.toString(server.port()));
            awaitReplica(client);
            assertThat(service.execute(request(1), lease -> "run")).isEqualTo(new Outcome.Executed<>("run"));
            assertThat(toReplica.dbSize()).isEqualTo(1);

            assertThatThrownBy(() -> service.execute(request(2), lease -> {
                        command(toReplica, Protocol.Command.REPLICAOF, "NO", "ONE");
                        return "run";
                    }))
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasCauseInstanceOf(NotReplicatedException.class);
        }
    }

    @Test
    @DisplayName("S4: a completion that is repeated on another connection waits for the replicas as the first one did")
    void complete_repeatedOnAnotherConnection_waitsForReplicasAgain() {
        try (RedisServer server = RedisServer.start();
                RedisServer replica = RedisServer.start();
                RedisClient client = RedisServers.client(server);
                RedisClient another = RedisServers.client(server);
                RedisClient toReplica = RedisServers.client(replica)) {
            command(toReplica, Protocol.Command.REPLICAOF, "127.0.0.1", Integer.toString(server.port()));
            awaitReplica(client);
            RedisLeases leases = waitingForOne(client);
            UUID owner = UUID.randomUUID();
            Duration hour = Duration.ofHours(1);
            long token = ((Claim.Granted) leases.claim(request(1), owner, hour, hour)).token();
            byte[] payload = {1, 0};
            replica.freeze();
            try {
                for (RedisClient each : List.of(client, another)) {
                    assertThatThrownBy(() -> waitingForOne(each).complete(request(1), owner, token, payload, hour))
                            .isInstanceOf(NotReplicatedException.class);
                }
            } finally {
                replica.thaw();
            }
            assertThat(new RedisLeases(
                                    new RedisScripts(another),
                                    new RedisKeys("", null, false),
                                    new Confirmation(1, false, Duration.ofSeconds(5)),
                                    List.of())
                            .complete(request(1), owner, token, payload, hour))
                    .isTrue();
        }
    }

    private static RedisLeases waitingForOne(RedisClient client) {
        return new RedisLeases(
                new RedisScripts(client),
                new RedisKeys("", null, false),
                new Confirmation(1, false, Duration.ofMillis(200)),
                List.of());
    }

    private static void awaitReplica(RedisClient client) {
        long began = System.nanoTime();
        while (!client.info("replication").contains("state=online")) {
            assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(60));
        }
    }

    @Test
    @DisplayName("appendfsync always: killed and started again in mid-run, nothing that was answered is executed twice")
    void redis_killedAndStartedAgain_executesNothingTwice() {
        try (RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
                RedisClient client = RedisServers.client(server)) {
            IdempotencyStore<Lease, String> store = RedisStores.leased(client, Codec.utf8(), options);
            Idempotency<Lease, String> service = Idempotency.with(store).build();
            int[] runs = new int[300];
            for (int round = 0; round < 5; round++) {
                for (int n = 0; n < runs.length; n++) {
                    int message = n;
                    if (n == 50 * (round + 1)) {
                        server.kill();
                        server.restart();
                    }
                    for (int tries = 0; ; tries++) {
                        try {
                            service.execute(request(n), lease -> Integer.toString(++runs[message]));
                            break;
                        } catch (RuntimeException e) {
                            assertThat(tries)
                                    .as("tries, the last of which failed with %s", e)
                                    .isLessThan(20);
                        }
                    }
                }
            }
            assertThat(runs).containsOnly(1);
        }
    }
}
