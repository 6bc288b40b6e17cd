package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.testkit.servers.RedisCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.util.JedisClusterCRC16;

/** A cluster whose slots move to another master in mid-run, and one that loses a master. */
final class RedisClusterFaultsTest {

    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final IdempotencyKey A = IdempotencyKey.of("im", "sender", "a");
    private static final IdempotencyKey B = IdempotencyKey.of("notice", "system", "b");

    private final RedisCluster cluster = RedisCluster.start(
            "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--cluster-node-timeout", "1000");
    private final List<RedisClient> masters =
            cluster.masters().stream().map(RedisServers::client).toList();
    private final RedisClusterClient client = RedisClusterClient.builder()
            .nodes(cluster.ports().stream()
                    .map(port -> new HostAndPort("127.0.0.1", port))
                    .collect(Collectors.toSet()))
            .clientConfig(
                    DefaultJedisClientConfig.builder().timeoutMillis(2_000).build())
            .maxAttempts(3)
            .maxTotalRetriesDuration(Duration.ofMillis(500))
            .build();
    private final KeptRecords records = new KeptRecords(client);
    private final RedisLeases leases = records.leases();
    /** All records of this test are in one slot. */
    private final int slot = JedisClusterCRC16.getSlot(records.spelled(A));

    private final int from = slot * 3 / 16_384;
    private final int to = (from + 1) % 3;
    private int runs;

    @AfterEach
    void close() {
        client.close();
        masters.forEach(RedisClient::close);
        cluster.close();
    }

    private Idempotency<Lease, String> service(RedisLeaseOptions options) {
        return Idempotency.with(RedisStores.leased(client, Codec.utf8(), options))
                .build();
    }

    private String act() {
        return "answer " + ++runs;
    }

    private static Object command(RedisClient master, Protocol.Command command, Object... words) {
        CommandArguments arguments = new CommandArguments(command);
        for (Object word : words) {
            arguments.add(word);
        }
        return master.executeCommand(arguments);
    }

    private String id(int master) {
        return new String(
                (byte[]) command(masters.get(master), Protocol.Command.CLUSTER, "MYID"), StandardCharsets.US_ASCII);
    }

    /** From now on the slot is between two masters. */
    private void beginMove() {
        command(masters.get(to), Protocol.Command.CLUSTER, "SETSLOT", slot, "IMPORTING", id(from));
        command(masters.get(from), Protocol.Command.CLUSTER, "SETSLOT", slot, "MIGRATING", id(to));
    }

    private void move(byte[] name) {
        command(
                masters.get(from),
                Protocol.Command.MIGRATE,
                "127.0.0.1",
                cluster.ports().get(to),
                name,
                0,
                5_000);
    }

    private void endMove() {
        for (byte[] name : masters.get(from).keys("*".getBytes(StandardCharsets.US_ASCII))) {
            if (JedisClusterCRC16.getSlot(name) == slot) {
                move(name);
            }
        }
        for (int master : new int[] {to, from, 3 - to - from}) {
            command(masters.get(master), Protocol.Command.CLUSTER, "SETSLOT", slot, "NODE", id(to));
        }
    }

    private static Request one(String id) {
        return Request.of(IdempotencyKey.of("im", "sender", id));
    }

    @Test
    @DisplayName("a slot moves to another master: calls with one key and their repeats go on, before, while and after")
    void slotMoves_oneKey_goesOn() {
        Idempotency<Lease, String> service = service(records.options);
        service.execute(one("before"), lease -> act());
        beginMove();
        assertThat(service.execute(one("before"), lease -> act()).response()).isEqualTo("answer 1");
        assertThat(service.execute(one("while"), lease -> act()))
                .as("asked at the other master")
                .isEqualTo(new Outcome.Executed<>("answer 2"));
        assertThat(masters.get(to).dbSize()).isEqualTo(1);
        assertThat(service.execute(one("moves under its action"), lease -> {
                    move(records.spelled(one("moves under its action").keys().get(0)));
                    return act();
                }))
                .isEqualTo(new Outcome.Executed<>("answer 3"));
        move(records.spelled(one("before").keys().get(0)));
        assertThat(service.execute(one("before"), lease -> act()).response()).isEqualTo("answer 1");
        assertThat(service.execute(one("its slot moves under its action"), lease -> {
                    endMove();
                    return act();
                }))
                .isEqualTo(new Outcome.Executed<>("answer 4"));
        for (String id : List.of("before", "while", "moves under its action", "its slot moves under its action")) {
            assertThat(service.execute(one(id), lease -> act())).as(id).isInstanceOf(Outcome.Replayed.class);
        }
        assertThat(runs).isEqualTo(4);
    }

    @Test
    @DisplayName("S8: several keys in a slot that is between two masters: retryable, nothing is run; then all goes on")
    void slotMoves_severalKeys_isRetryable() {
        Idempotency<Lease, String> service = service(records.options);
        Request both = Request.of(A).and(B);
        service.execute(Request.of(A), lease -> act());
        beginMove();
        assertThatThrownBy(() -> service.execute(both, lease -> act()))
                .as("one is here, the other is nowhere")
                .isInstanceOf(RetryableException.class)
                .hasMessageContaining("TRYAGAIN");
        Request fresh = one("x").and(IdempotencyKey.of("im", "sender", "y"));
        assertThatThrownBy(() -> service.execute(fresh, lease -> act())).isInstanceOf(RetryableException.class);
        endMove();
        assertThat(service.execute(both, lease -> act()).response()).isEqualTo("answer 1");
        assertThat(service.execute(fresh, lease -> act()).response()).isEqualTo("answer 2");
    }

    @Test
    @DisplayName(
            "S8: the names of a record part under its action: unknown, and nobody else gets it before the lease ends")
    void completion_namesApart_isUnknown() {
        Idempotency<Lease, String> service = service(records.options);
        Request both = Request.of(A).and(B);
        assertThatThrownBy(() -> service.execute(both, lease -> {
                    beginMove();
                    move(records.spelled(A));
                    return act();
                }))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasRootCauseMessage("TRYAGAIN Multiple keys request during rehashing of slot");
        for (Request each : List.of(Request.of(A), Request.of(B))) {
            assertThat(leases.claim(each, UUID.randomUUID(), LEASE, RETENTION)).isInstanceOf(Claim.Refused.class);
        }
        endMove();
        assertThat(leases.claim(both, UUID.randomUUID(), LEASE, RETENTION)).isInstanceOf(Claim.Refused.class);
        assertThat(runs).isEqualTo(1);
    }

    @Test
    @DisplayName("S8, S11: a takeover by one name whose other name has moved on: retryable, and neither is touched")
    void takeover_otherNameMoved_touchesNothing() {
        Request both = Request.of(B).and(A);
        leases.claim(both, UUID.randomUUID(), LEASE, RETENTION);
        records.lapse(A);
        byte[] before = client.get(records.spelled(B));
        beginMove();
        move(records.spelled(A));
        for (IdempotencyKey key : List.of(B, A)) {
            assertThatThrownBy(() -> leases.claim(Request.of(key), UUID.randomUUID(), LEASE, RETENTION))
                    .as("by %s", key)
                    .isInstanceOf(RetryableException.class);
            assertThat(client.get(records.spelled(key))).isEqualTo(before);
        }
        endMove();
        assertThat(leases.claim(Request.of(B), UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOfSatisfying(
                        Claim.Granted.class,
                        granted -> assertThat(granted.takenOver()).isTrue());
        assertThat(client.get(records.spelled(A))).isEqualTo(client.get(records.spelled(B)));
    }

    @Test
    @DisplayName("S8: a completion by one name whose other name has moved on completes both, or neither")
    void completion_otherNameMoved_touchesNothing() {
        Request both = Request.of(B).and(A);
        leases.claim(both, UUID.randomUUID(), LEASE, RETENTION);
        records.lapse(A);
        UUID owner = UUID.randomUUID();
        Claim.Granted granted = (Claim.Granted) leases.claim(Request.of(B), owner, LEASE, RETENTION);
        byte[] before = client.get(records.spelled(B));
        byte[] payload = {1, 0};
        beginMove();
        move(records.spelled(A));
        assertThatThrownBy(() -> leases.complete(Request.of(B), owner, granted.token(), payload, RETENTION))
                .isInstanceOf(RetryableException.class);
        assertThat(client.get(records.spelled(B))).isEqualTo(before);
        endMove();
        assertThat(leases.complete(Request.of(B), owner, granted.token(), payload, RETENTION))
                .isTrue();
        assertThat(leases.claim(Request.of(A), UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOf(Claim.Done.class);
    }

    @Test
    @DisplayName("a pipeline with WAIT follows a slot that has moved, and not one that is moving")
    void slotMoved_confirmed_follows() {
        RedisLeases waiting = new RedisLeases(
                new RedisScripts(client), records.keys(), new Confirmation(1, false, Duration.ofMillis(1)), List.of());
        Request request = Request.of(A);
        assertThatThrownBy(() -> waiting.claim(request, UUID.randomUUID(), LEASE, RETENTION))
                .as("the masters have no replicas")
                .isInstanceOf(NotReplicatedException.class);
        beginMove();
        assertThatThrownBy(() -> waiting.claim(Request.of(B), UUID.randomUUID(), LEASE, RETENTION))
                .as("a new key, while the slot moves")
                .isInstanceOf(RetryableException.class)
                .hasMessageContaining("ASK");
        endMove();
        assertThatThrownBy(() -> waiting.claim(request, UUID.randomUUID(), LEASE, RETENTION))
                .as("at its new master")
                .isInstanceOf(NotReplicatedException.class);
    }

    @Test
    @DisplayName(
            "a master is lost: each failure has a type, the cluster is down for all keys, and back with the master")
    void masterLost_isTyped() {
        Idempotency<Lease, String> service = service(records.options);
        service.execute(Request.of(A), lease -> act());
        cluster.masters().get(from).kill();
        assertThatThrownBy(() -> service.execute(Request.of(A), lease -> act()))
                .isInstanceOfAny(RetryableException.class, OutcomeUnknownException.class);
        RedisLeases elsewhere = new RedisLeases(
                new RedisScripts(client), new RedisKeys("", key -> tagOf(to), true), Confirmation.NONE, List.of());
        String failure = "";
        for (long began = System.nanoTime(); !failure.contains("CLUSTERDOWN"); ) {
            assertThat(System.nanoTime() - began).as(failure).isLessThan(TimeUnit.SECONDS.toNanos(60));
            try {
                elsewhere.claim(Request.of(A), UUID.randomUUID(), LEASE, RETENTION);
            } catch (RetryableException e) {
                failure = String.valueOf(e.getMessage());
            }
        }
        assertThatThrownBy(() -> service.execute(Request.of(A), lease -> act()))
                .isInstanceOfAny(RetryableException.class, OutcomeUnknownException.class);
        assertThat(runs).isEqualTo(1);
        cluster.masters().get(from).restart();
        List<RuntimeException> failures = new ArrayList<>();
        for (long began = System.nanoTime(); ; ) {
            assertThat(System.nanoTime() - began).as("%s", failures).isLessThan(TimeUnit.SECONDS.toNanos(60));
            try {
                assertThat(service.execute(Request.of(A), lease -> act()).response())
                        .isEqualTo("answer 1");
                break;
            } catch (IdempotencyException e) {
                failures.add(e);
            }
        }
    }

    private static String tagOf(int master) {
        return IntStream.range(0, 1_000)
                .mapToObj(Integer::toString)
                .filter(tag -> JedisClusterCRC16.getSlot(tag) * 3 / 16_384 == master)
                .findFirst()
                .orElseThrow();
    }
}
