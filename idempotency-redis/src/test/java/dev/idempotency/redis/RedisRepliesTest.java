package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;

/** What a server that can't serve replies, provoked for real, and what the caller is told of it. */
@ParameterizedClass
@EnumSource(
        value = RedisServers.class,
        names = {"SINGLE", "INSTALLED"})
final class RedisRepliesTest {

    private static final Request REQUEST = Request.of(IdempotencyKey.of("im", "sender", "1"));
    private static final RedisLeaseOptions OPTIONS = RedisLeaseOptions.defaults();

    private final RedisServers kind;
    private final RedisServer server;
    private final RedisClient client;
    private final RedisClient other;
    private int runs;

    RedisRepliesTest(RedisServers kind) {
        this.kind = kind;
        server = kind.fresh("--save", "");
        client = RedisServers.client(server);
        other = RedisServers.client(server);
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
        server.close();
    }

    private Idempotency<Lease, String> cold(RedisLeaseOptions options) {
        return Idempotency.with(RedisStores.leased(client, Codec.utf8(), options))
                .build();
    }

    private Idempotency<Lease, String> service(RedisLeaseOptions options) {
        Idempotency<Lease, String> service = cold(options);
        // Each script is known to the server.
        service.execute(Request.of(IdempotencyKey.of("im", "sender", "warm")), lease -> "");
        return service;
    }

    private String act() {
        return "answer " + ++runs;
    }

    private void command(Protocol.Command command, String... words) {
        CommandArguments arguments = new CommandArguments(command);
        for (String word : words) {
            arguments.add(word);
        }
        other.executeCommand(arguments);
    }

    private static void await(String what, BooleanSupplier state) {
        for (long began = System.nanoTime(); !state.getAsBoolean(); Thread.onSpinWait()) {
            assertThat(System.nanoTime() - began).as(what).isLessThan(TimeUnit.SECONDS.toNanos(60));
        }
    }

    /** Nothing was run, trying again is worth it, and it then works. */
    private void assertRetryable(Idempotency<Lease, String> service, String reply, Runnable mend) {
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> act()))
                .isInstanceOf(RetryableException.class)
                .hasMessageContaining(reply);
        assertThat(runs).isZero();
        mend.run();
        assertThat(service.execute(REQUEST, lease -> act())).isEqualTo(new Outcome.Executed<>("answer 1"));
    }

    @Test
    @DisplayName("OOM: a full memory is a reason to retry")
    void full_isRetryable() {
        Idempotency<Lease, String> service = service(OPTIONS);
        other.configSet("maxmemory", "1");
        assertRetryable(service, "OOM", () -> other.configSet("maxmemory", "0"));
    }

    @Test
    @DisplayName("READONLY and MASTERDOWN, R-3: a replica is a reason to retry, and idle connections to it are closed")
    void replica_isRetryableAndDropsConnections() {
        Idempotency<Lease, String> service = service(OPTIONS);
        command(Protocol.Command.REPLICAOF, "127.0.0.1", "1");
        for (String reply : new String[] {"READONLY", "MASTERDOWN"}) {
            other.configSet("replica-serve-stale-data", reply.equals("READONLY") ? "yes" : "no");
            assertThatThrownBy(() -> service.execute(REQUEST, lease -> act()))
                    .isInstanceOf(RetryableException.class)
                    .hasMessageContaining(reply);
            assertThat(client.getPool().getNumIdle()).as("idle after " + reply).isZero();
        }
        command(Protocol.Command.REPLICAOF, "NO", "ONE");
        assertThat(service.execute(REQUEST, lease -> act())).isEqualTo(new Outcome.Executed<>("answer 1"));
    }

    @Test
    @DisplayName("BUSY: a script of somebody's that takes long is a reason to retry")
    void busy_isRetryable() {
        Idempotency<Lease, String> service = service(OPTIONS);
        other.configSet("lua-time-limit", "10");
        try (RedisClient somebody = RedisServers.client(server)) {
            CompletableFuture<Object> endless = CompletableFuture.supplyAsync(() -> somebody.eval("while true do end"));
            await("the server is busy", () -> {
                Throwable failure = catchThrowable(other::ping);
                return failure != null && String.valueOf(failure.getMessage()).contains("BUSY");
            });
            assertRetryable(service, "BUSY", () -> {
                other.scriptKill();
                assertThat(endless).failsWithin(Duration.ofMinutes(1));
            });
        }
    }

    @Test
    @DisplayName("MISCONF: a server that can't write its snapshot is a reason to retry")
    void noSnapshot_isRetryable() throws IOException {
        Idempotency<Lease, String> service = service(OPTIONS);
        // A folder that is not empty is in the place of the file.
        Path inTheWay = Path.of(other.configGet("dir").get("dir"), "dump.rdb");
        Files.createDirectories(inTheWay.resolve("folder"));
        other.configSet("save", "3600 1000000");
        command(Protocol.Command.BGSAVE);
        await("the snapshot failed", () -> other.info("persistence").contains("rdb_last_bgsave_status:err"));
        assertRetryable(service, "MISCONF", () -> other.configSet("stop-writes-on-bgsave-error", "no"));
    }

    @Test
    @DisplayName("NOREPLICAS: a master with fewer replicas than it asks for is a reason to retry")
    void tooFewReplicas_isRetryable() {
        Idempotency<Lease, String> service = service(OPTIONS);
        other.configSet("min-replicas-to-write", "1");
        assertRetryable(service, "NOREPLICAS", () -> other.configSet("min-replicas-to-write", "0"));
    }

    @Test
    @DisplayName("LOADING: a server that reads its file is a reason to retry")
    void loading_isRetryable() {
        try (RedisServer slow =
                        kind.fresh("--appendonly", "no", "--key-load-delay", "10000", "--rdbcompression", "no");
                RedisClient toSlow = RedisServers.client(slow)) {
            Idempotency<Lease, String> store =
                    Idempotency.with(RedisStores.leased(toSlow, Codec.utf8())).build();
            store.execute(REQUEST, lease -> act());
            // It looks for commands at every 2 MiB of its file.
            toSlow.eval("for i = 1, 300 do redis.call('SET', 'filler' .. i, string.rep('x', 100000)) end");
            toSlow.executeCommand(new CommandArguments(Protocol.Command.SAVE));
            slow.kill();
            CompletableFuture<Void> loaded = CompletableFuture.runAsync(slow::restart);
            List<Throwable> failures = new ArrayList<>();
            ThrowingCallable call = () -> store.execute(REQUEST, lease -> act());
            await("the server says that it is loading", () -> {
                Throwable failure = catchThrowable(call);
                if (failure != null) {
                    failures.add(failure);
                }
                assertThat(loaded).as("%s", failures).isNotDone();
                return failure != null && String.valueOf(failure.getMessage()).contains("LOADING");
            });
            assertThat(failures.get(failures.size() - 1)).isInstanceOf(RetryableException.class);
            assertThat(loaded).succeedsWithin(Duration.ofMinutes(1));
            assertThat(store.execute(REQUEST, lease -> act()).response()).isEqualTo("answer 1");
        }
    }

    @Test
    @DisplayName("a server that takes no more connections is a reason to retry")
    void tooManyClients_isRetryable() {
        Idempotency<Lease, String> service = service(OPTIONS);
        client.getPool().clear();
        other.configSet("maxclients", "1");
        assertRetryable(service, "max number of clients", () -> other.configSet("maxclients", "100"));
    }

    @Test
    @DisplayName("no permission is a refusal")
    void noPermission_isRefused() {
        Idempotency<Lease, String> service = service(OPTIONS);
        command(Protocol.Command.ACL, "SETUSER", "default", "-evalsha");
        assertThatThrownBy(() -> service.execute(REQUEST, lease -> act()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("NOPERM");
        command(Protocol.Command.ACL, "SETUSER", "default", "+evalsha");
        assertThat(service.execute(REQUEST, lease -> act())).isEqualTo(new Outcome.Executed<>("answer 1"));
    }

    @Test
    @DisplayName(
            "UNBLOCKED: a master that is demoted while a claim waits for its replica: not confirmed, nothing is run")
    void claim_demotedWhileItWaits_isNotConfirmed() {
        assertThat(service(OPTIONS)).as("warm").isNotNull();
        Idempotency<Lease, String> waiting = cold(OPTIONS.confirmedBy(1, Duration.ofSeconds(8)));
        CompletableFuture<Outcome<String>> call =
                CompletableFuture.supplyAsync(() -> waiting.execute(REQUEST, lease -> act()));
        awaitWaiting();
        command(Protocol.Command.REPLICAOF, "127.0.0.1", "1");
        assertThat(call)
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(NotReplicatedException.class)
                .withMessageContaining("UNBLOCKED");
        assertThat(runs).isZero();
    }

    @Test
    @DisplayName("UNBLOCKED: and while a completion waits: unknown, and what was answered stays")
    void completion_demotedWhileItWaits_isUnknown() {
        try (RedisServer replica = kind.fresh("--save", "");
                RedisClient toReplica = RedisServers.client(replica)) {
            toReplica.executeCommand(new CommandArguments(Protocol.Command.REPLICAOF)
                    .add("127.0.0.1")
                    .add(server.port()));
            await("the replica is there", () -> other.info("replication").contains("state=online"));
            Idempotency<Lease, String> waiting = service(OPTIONS.confirmedBy(1, Duration.ofSeconds(8)));
            CompletableFuture<Void> claimed = new CompletableFuture<>();
            CompletableFuture<Outcome<String>> call =
                    CompletableFuture.supplyAsync(() -> waiting.execute(REQUEST, lease -> {
                        replica.freeze();
                        claimed.complete(null);
                        return act();
                    }));
            try {
                assertThat(claimed).succeedsWithin(Duration.ofMinutes(1));
                awaitWaiting();
                command(Protocol.Command.REPLICAOF, "127.0.0.1", "1");
                assertThat(call)
                        .failsWithin(Duration.ofMinutes(1))
                        .withThrowableThat()
                        .havingCause()
                        .isInstanceOf(OutcomeUnknownException.class);
            } finally {
                replica.thaw();
            }
            command(Protocol.Command.REPLICAOF, "NO", "ONE");
            assertThat(service(OPTIONS).execute(REQUEST, lease -> act()).response())
                    .isEqualTo("answer 1");
        }
    }

    private void awaitWaiting() {
        await("somebody waits for replicas", () -> other.info("clients").contains("blocked_clients:1"));
    }
}
