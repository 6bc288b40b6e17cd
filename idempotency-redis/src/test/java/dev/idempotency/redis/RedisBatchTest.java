package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** Batches of leases. */
final class RedisBatchTest {

    @Test
    @DisplayName("All keys of a batch are claimed before its first action runs, and after SCRIPT FLUSH too (R-4)")
    void executeAll_claimsAllAtOnce() {
        try (RedisServer server = RedisServer.start();
                RedisClient client = RedisServers.client(server)) {
            Idempotency<Lease, String> service =
                    Idempotency.with(RedisStores.leased(client, Codec.utf8())).build();
            List<Long> held = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                int first = 10 * round;
                List<Request> requests = IntStream.range(first, first + 10)
                        .mapToObj(i -> Request.of(IdempotencyKey.of("im", "ana", "m" + i)))
                        .toList();
                assertThat(service.executeAll(requests, (lease, fresh) -> {
                            held.add(client.dbSize() - first);
                            return Map.of(fresh.get(0), "ok");
                        }))
                        .hasSize(10)
                        .allMatch(new Executed<>("ok")::equals);
                client.scriptFlush();
            }
            // The first batch of a server that does not know the script goes one by one.
            assertThat(held.subList(0, 10)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
            service.executeAll(
                    List.of(Request.of(IdempotencyKey.of("im", "ana", "x"))),
                    (lease, fresh) -> Map.of(fresh.get(0), "ok"));
            held.clear();
            List<Request> known = IntStream.range(100, 110)
                    .mapToObj(i -> Request.of(IdempotencyKey.of("im", "ana", "m" + i)))
                    .toList();
            service.executeAll(known, (lease, fresh) -> {
                held.add(client.dbSize());
                return Map.of(fresh.get(0), "ok");
            });
            assertThat(held).containsOnly(41L);
        }
    }
}
