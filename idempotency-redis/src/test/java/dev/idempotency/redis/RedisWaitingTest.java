package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;

/** Many callers and few connections. */
final class RedisWaitingTest {

    private final RedisServer server = RedisServer.start("--save", "");
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        server.close();
    }

    private RedisClient client(int connections) {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(connections);
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", server.port())
                .poolConfig(pool)
                .build();
    }

    private Idempotency<Lease, String> service(RedisClient client) {
        IdempotencyStore<Lease, String> store = RedisStores.leased(
                client,
                Codec.utf8(),
                RedisLeaseOptions.defaults().leases(LeaseOptions.defaults().waitAtMost(Duration.ofMinutes(1))));
        return Idempotency.with(store).build();
    }

    private static Request request(int n) {
        return Request.of(IdempotencyKey.of("im", "sender", Integer.toString(n)));
    }

    private String act() {
        return "answer " + runs.incrementAndGet();
    }

    @Test
    @DisplayName("S14: duplicates that wait hold no connection: with two of them, fifty wait and others go on")
    void duplicates_waiting_holdNoConnection() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (RedisClient client = client(2)) {
            Idempotency<Lease, String> service = service(client);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch finish = new CountDownLatch(1);
            List<Future<Outcome<String>>> answers = new ArrayList<>();
            answers.add(threads.submit(() -> service.execute(request(0), lease -> {
                running.countDown();
                assertThat(finish.await(60, TimeUnit.SECONDS)).isTrue();
                return act();
            })));
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 50; i++) {
                answers.add(threads.submit(() -> service.execute(request(0), lease -> act())));
            }
            for (int n = 1; n <= 20; n++) {
                assertThat(service.execute(request(n), lease -> act())).isInstanceOf(Outcome.Executed.class);
            }
            finish.countDown();
            for (Future<Outcome<String>> answer : answers) {
                assertThat(answer.get(60, TimeUnit.SECONDS).response()).isEqualTo("answer 21");
            }
            assertThat(runs).hasValue(21);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("a pool with no connection free is a reason to retry, and nothing is run")
    void call_poolExhausted_isRetryable() {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(1);
        pool.setMaxWait(Duration.ofMillis(1));
        try (RedisClient client = RedisClient.builder()
                .hostAndPort("127.0.0.1", server.port())
                .poolConfig(pool)
                .build()) {
            Idempotency<Lease, String> service = service(client);
            try (Connection taken = client.getPool().getResource()) {
                assertThat(taken.ping()).isTrue();
                assertThatThrownBy(() -> service.execute(request(1), lease -> act()))
                        .isInstanceOf(RetryableException.class);
            }
            assertThat(service.execute(request(1), lease -> act()).response()).isEqualTo("answer 1");
        }
    }

    @Test
    @DisplayName("R-11: 10,000 virtual threads with 1,000 keys over a pool of 8 finish")
    void virtualThreads_overAPoolOfEight_finish() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21, "this JDK has no virtual threads");
        ExecutorService threads = (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        try (RedisClient client = client(8)) {
            Idempotency<Lease, String> service = service(client);
            List<Future<Outcome<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                int n = i % 1_000;
                answers.add(threads.submit(() -> service.execute(request(n), lease -> act())));
            }
            for (Future<Outcome<String>> answer : answers) {
                assertThat(answer.get(5, TimeUnit.MINUTES).response()).startsWith("answer ");
            }
            assertThat(runs).hasValue(1_000);
        } finally {
            threads.shutdownNow();
        }
    }
}
