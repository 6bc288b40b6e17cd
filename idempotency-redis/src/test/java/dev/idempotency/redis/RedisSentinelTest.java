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
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.RedisSentinel;
import dev.idempotency.testkit.servers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** A primary with a replica, under three sentinels: what a store behind them does when the primary is lost, or demoted. */
final class RedisSentinelTest {

    private final RedisSentinel servers = RedisSentinel.start("--save", "");
    private final RedisSentinelClient client = RedisSentinelClient.builder()
            .masterName(RedisSentinel.NAME)
            .sentinels(servers.sentinels().stream()
                    .map(sentinel -> new HostAndPort("127.0.0.1", sentinel.port()))
                    .collect(Collectors.toSet()))
            .clientConfig(
                    DefaultJedisClientConfig.builder().timeoutMillis(5_000).build())
            .build();
    private final int[] runs = new int[200];

    @AfterEach
    void close() {
        client.close();
        servers.close();
    }

    private Idempotency<Lease, String> service(RedisLeaseOptions options) {
        return Idempotency.with(RedisStores.leased(client, Codec.utf8(), options))
                .build();
    }

    /** On a connection of its own. */
    private static <T> T ask(RedisServer server, Function<RedisClient, T> question) {
        try (RedisClient once = RedisServers.client(server)) {
            return question.apply(once);
        }
    }

    /** Whoever changes its role ends the connections that it has. */
    private static boolean isReplica(RedisClient server) {
        try {
            return server.info("replication").contains("role:slave");
        } catch (JedisConnectionException e) {
            return false;
        }
    }

    private static boolean knowsTheClaim(RedisClient server) {
        byte[] digest = RedisLeases.CLAIM.digest();
        return server.scriptExists(List.of(new String(digest, StandardCharsets.US_ASCII)))
                .get(0);
    }

    private static Request request(int n) {
        return Request.of(IdempotencyKey.of("im", "sender", Integer.toString(n)));
    }

    private Outcome<String> call(Idempotency<Lease, String> service, int n) {
        return service.execute(request(n), lease -> "answer " + n + " of run " + ++runs[n]);
    }

    private static void await(String what, BooleanSupplier state) {
        for (long began = System.nanoTime(); !state.getAsBoolean(); Thread.onSpinWait()) {
            assertThat(System.nanoTime() - began).as(what).isLessThan(TimeUnit.SECONDS.toNanos(60));
        }
    }

    /** Calls until there is an answer; whatever else comes has to have a type. */
    private Outcome<String> insist(Idempotency<Lease, String> service, int n) {
        return insist(() -> call(service, n));
    }

    private static <T> T insist(Supplier<T> call) {
        for (long began = System.nanoTime(); ; ) {
            try {
                return call.get();
            } catch (RetryableException | OutcomeUnknownException e) {
                assertThat(System.nanoTime() - began).as("%s", e).isLessThan(TimeUnit.SECONDS.toNanos(60));
            }
        }
    }

    private void awaitPromotion() {
        await(
                "the client follows to the replica",
                () -> client.getCurrentMaster().getPort() == servers.replica().port());
    }

    @Test
    @DisplayName(
            "S4, R-4: the primary is lost: unknown, then retryable, and after the failover calls and repeats go on")
    void primaryLost_isTypedAndFollowed() {
        IdempotencyStore<Lease, String> store = RedisStores.leased(client, Codec.utf8());
        assertThat(store.warnings())
                .as("read through the sentinels' client")
                .anyMatch(warning -> warning.contains("keeps nothing on disk"))
                .anyMatch(warning -> warning.contains("a failover loses"));
        Idempotency<Lease, String> service = Idempotency.with(store).build();
        assertThat(call(service, 1)).isInstanceOf(Outcome.Executed.class);
        await("the replica has it", () -> ask(servers.replica(), RedisClient::dbSize) == 1);
        assertThat(ask(servers.replica(), RedisSentinelTest::knowsTheClaim))
                .as("the script is not replicated")
                .isFalse();

        // Nobody may promote it yet.
        servers.sentinels().forEach(RedisServer::freeze);
        servers.primary().kill();
        assertThatThrownBy(() -> call(service, 2))
                .as("sent on a connection that was good: it may have been done")
                .isInstanceOf(OutcomeUnknownException.class);
        assertThatThrownBy(() -> call(service, 2))
                .as("no connection was had: nothing was done")
                .isInstanceOf(RetryableException.class);
        assertThat(runs[2]).isZero();

        servers.sentinels().forEach(RedisServer::thaw);
        awaitPromotion();
        assertThat(insist(service, 2)).isEqualTo(new Outcome.Executed<>("answer 2 of run 1"));
        assertThat(ask(servers.replica(), RedisSentinelTest::knowsTheClaim)).isTrue();
        assertThat(call(service, 1)).isInstanceOf(Outcome.Replayed.class);
        assertThat(call(service, 1).response()).isEqualTo("answer 1 of run 1");
    }

    @Test
    @DisplayName("confirmed by the replica: a lost primary takes nothing with it that was acknowledged")
    void confirmed_primaryLost_losesNothing() {
        Idempotency<Lease, String> service =
                service(RedisLeaseOptions.defaults().confirmedBy(1, Duration.ofSeconds(2)));
        int half = runs.length / 2;
        for (int n = 0; n < half; n++) {
            assertThat(insist(service, n).response()).isEqualTo("answer " + n + " of run 1");
        }
        servers.primary().kill();
        awaitPromotion();
        // There is no replica any more that could confirm.
        Idempotency<Lease, String> after = insist(() -> service(RedisLeaseOptions.defaults()));
        for (int n = 0; n < runs.length; n++) {
            assertThat(insist(after, n).response()).isEqualTo("answer " + n + " of run 1");
        }
        assertThat(runs).containsOnly(1);
    }

    @Test
    @DisplayName("R-3: a primary that lives is demoted under calls: each failure has a type, and the client follows")
    void primaryDemoted_isFollowed() {
        Idempotency<Lease, String> service = service(RedisLeaseOptions.defaults());
        try (RedisClient sentinel = RedisServers.client(servers.sentinels().get(0))) {
            sentinel.executeCommand(new CommandArguments(Protocol.Command.SENTINEL)
                    .add("FAILOVER")
                    .add(RedisSentinel.NAME));
            int n = 0;
            for (long began = System.nanoTime();
                    client.getCurrentMaster().getPort() != servers.replica().port();
                    n = (n + 1) % runs.length) {
                assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(60));
                try {
                    call(service, n);
                } catch (IdempotencyException typed) {
                    assertThat(typed).isInstanceOfAny(RetryableException.class, OutcomeUnknownException.class);
                }
            }
        }
        await("the old primary is a replica", () -> ask(servers.primary(), RedisSentinelTest::isReplica));
        // What the old one had said yes to until then may be lost, and is executed again.
        Outcome<String> last = insist(service, 1);
        assertThat(call(service, 1)).isInstanceOf(Outcome.Replayed.class);
        assertThat(call(service, 1).response()).isEqualTo(last.response());
    }
}
