package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyException;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.testkit.servers.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Faults on the way to Redis and in it, by a proxy in front of a real server. */
final class RedisFaultsTest {

    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Request REQUEST = Request.of(IdempotencyKey.of("im", "sender", "1"));

    private final RedisServer server = RedisServer.start("--save", "");
    private final FaultProxy proxy = new FaultProxy(server.port());
    private final RedisClient client = RedisServers.client(proxy.port(), Duration.ofMillis(500));
    private final RedisClient direct = RedisServers.client(server);
    private final KeptRecords records = new KeptRecords(client);
    private final RedisLeases leases = records.leases();
    private final AtomicInteger runs = new AtomicInteger();

    RedisFaultsTest() throws IOException {}

    @AfterEach
    void close() {
        client.close();
        direct.close();
        proxy.close();
        server.close();
    }

    /** A service whose scripts the server has seen. */
    private Idempotency<Lease, String> service() {
        IdempotencyStore<Lease, String> store = RedisStores.leased(client, Codec.utf8(), records.options);
        Idempotency<Lease, String> service = Idempotency.with(store).build();
        service.execute(Request.of(IdempotencyKey.of("im", "sender", "warm")), lease -> "");
        return service;
    }

    private String act() {
        return "answer " + runs.incrementAndGet();
    }

    @Test
    @DisplayName("R-1: a reply that comes after the time-out is nobody's answer")
    void reply_late_isNeverTheAnswerToAnotherCommand() {
        client.set("other", "value");
        Object id = connectionId();
        proxy.hold(1);
        assertThatThrownBy(() -> client.get("late")).isInstanceOf(JedisConnectionException.class);
        assertThat(client.getPool().getDestroyedCount())
                .as("connections closed")
                .isEqualTo(1);
        proxy.letGo();
        assertThat(connectionId()).isNotEqualTo(id);
        for (int i = 0; i < 20; i++) {
            assertThat(client.get("other")).isEqualTo("value");
        }
    }

    @Test
    @DisplayName("R-1, S4: a claim that was not answered in time is recognised when it is repeated")
    void claim_timedOut_isGrantedToTheSameOwnerAgain() {
        Idempotency<Lease, String> service = service();
        proxy.hold(1);
        assertThat(service.execute(REQUEST, lease -> act())).isEqualTo(new Outcome.Executed<>("answer 1"));
        proxy.letGo();
        assertThat(service.execute(REQUEST, lease -> act()).response()).isEqualTo("answer 1");
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("S4: a claim whose reply is cut off is granted again, with the same token")
    void claim_replyCut_sameOwnerGetsTheSameAnswer() {
        UUID owner = UUID.randomUUID();
        direct.ping();
        leases.release(REQUEST, owner, 1);
        proxy.cut(1);
        assertThatThrownBy(() -> leases.claim(REQUEST, owner, LEASE, RETENTION))
                .isInstanceOf(RuntimeException.class)
                .isNotInstanceOfAny(RetryableException.class, StoreException.class);
        Claim again = leases.claim(REQUEST, owner, LEASE, RETENTION);
        assertThat(again).isInstanceOf(Claim.Granted.class);
        assertThat(leases.claim(REQUEST, owner, LEASE, RETENTION)).isEqualTo(again);
    }

    @Test
    @DisplayName("S4: a completion whose reply is cut off is repeated, and the action is not")
    void completion_replyCut_isRepeated() {
        Idempotency<Lease, String> service = service();
        Outcome<String> outcome = service.execute(REQUEST, lease -> {
            proxy.cut(2);
            return act();
        });
        assertThat(outcome.response()).isEqualTo("answer 1");
        assertThat(service.execute(REQUEST, lease -> act()).response()).isEqualTo("answer 1");
    }

    @Test
    @DisplayName("S4: a completion that is never answered is unknown to its caller, and a repeat finds it")
    void completion_neverAnswered_isUnknownAndARepeatFindsOut() {
        Idempotency<Lease, String> service = service();
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> {
                    proxy.cut(1_000);
                    return act();
                }))
                .isInstanceOf(OutcomeUnknownException.class);
        proxy.heal();
        assertThat(service.execute(REQUEST, lease -> act()).response()).isEqualTo("answer 1");
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("R-3: a demoted master is a reason to retry, and its connections are dropped")
    void claim_atADemotedMaster_isRetryableAndDropsConnections() {
        Idempotency<Lease, String> service = service();
        service.execute(Request.of(IdempotencyKey.of("im", "sender", "0")), lease -> act());
        command("REPLICAOF", "127.0.0.1", "1");
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> act())).isInstanceOf(RetryableException.class);
        assertThat(client.getPool().getNumIdle()).as("idle connections").isZero();
        command("REPLICAOF", "NO", "ONE");
        assertThat(service.execute(REQUEST, lease -> act()).response()).isEqualTo("answer 2");
    }

    @Test
    @DisplayName("R-4: SCRIPT FLUSH between and inside calls changes nothing")
    void scripts_flushed_goOn() {
        Idempotency<Lease, String> service = service();
        for (int i = 0; i < 5; i++) {
            Request request = Request.of(IdempotencyKey.of("im", "sender", "flush " + i));
            direct.scriptFlush();
            assertThat(service.execute(request, lease -> {
                        direct.scriptFlush();
                        return act();
                    }))
                    .isInstanceOf(Outcome.Executed.class);
        }
        assertThat(runs).hasValue(5);
    }

    @Test
    @DisplayName("R-8: Redis is down and the only store: the call fails, and nothing is executed")
    void call_redisDown_failsAndExecutesNothing() {
        IdempotencyStore<Lease, String> store = RedisStores.leased(direct, Codec.utf8(), records.options);
        Idempotency<Lease, String> service = Idempotency.with(store).build();
        server.kill();
        // The first call finds out on a connection that was good: what it sent may have arrived.
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> act())).isInstanceOf(IdempotencyException.class);
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> act())).isInstanceOf(RetryableException.class);
        assertThat(runs).hasValue(0);
        RedisClient nowhere = RedisServers.client(server);
        assertThatThrownBy(() -> RedisStores.leased(nowhere, Codec.utf8())).isInstanceOf(RetryableException.class);
        nowhere.close();
    }

    @Test
    @DisplayName("a full Redis is a reason to retry, and nothing is executed")
    void claim_memoryFull_isRetryable() {
        Idempotency<Lease, String> service = service();
        direct.configSet("maxmemory", "1");
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> act())).isInstanceOf(RetryableException.class);
        direct.configSet("maxmemory", "0");
        assertThat(service.execute(REQUEST, lease -> act()).response()).isEqualTo("answer 1");
    }

    @Test
    @DisplayName("a key of another type is an error that trying again won't mend, and is left as it is")
    void claim_keyOfAnotherType_isAStoreException() {
        byte[] name = records.spelled(REQUEST.keys().get(0));
        client.hset(name, "a".getBytes(java.nio.charset.StandardCharsets.UTF_8), name);
        assertThatThrownBy(() -> leases.claim(REQUEST, UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOf(StoreException.class);
        assertThat(client.hlen(name)).isEqualTo(1);
    }

    @Test
    @DisplayName("one round trip for a claim and one for a completion")
    void call_newKey_takesTwoRoundTrips() {
        Idempotency<Lease, String> service = service();
        int before = proxy.requests();
        service.execute(REQUEST, lease -> act());
        assertThat(proxy.requests() - before).as("requests for a first call").isEqualTo(2);
        service.execute(REQUEST, lease -> act());
        assertThat(proxy.requests() - before).as("with a repeat").isEqualTo(3);
    }

    private Object connectionId() {
        return client.executeCommand(new CommandArguments(Protocol.Command.CLIENT).add("ID"));
    }

    private void command(String... words) {
        CommandArguments command = new CommandArguments(Protocol.Command.valueOf(words[0]));
        for (int i = 1; i < words.length; i++) {
            command.add(words[i]);
        }
        direct.executeCommand(command);
    }
}
