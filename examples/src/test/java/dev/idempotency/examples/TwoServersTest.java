package dev.idempotency.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.testkit.servers.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

class TwoServersTest {

    @Test
    @DisplayName("What one server has stored, the other replays without asking the database")
    void run_resendToTheOtherServer_asksNoDatabase() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RedisServer redis = RedisServer.start("--save", "")) {
            TwoServers.run("127.0.0.1", redis.port(), new PrintStream(out, true, UTF_8));
        }
        assertThat(out.toString(UTF_8))
                .contains("1 time(s) by the first, 0 by the second")
                .contains("by the WINDOW");
    }

    @Test
    @DisplayName("R-6, R-8: entries gone, and Redis gone: the database stops the repeats")
    void redisFails_databaseStopsTheRepeat() {
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:two-servers", "sa", "");
        try (RedisServer redis = RedisServer.start("--save", "");
                RedisClient client = RedisClient.create("127.0.0.1", redis.port())) {
            TwoServers first = new TwoServers(pool, client);
            TwoServers second = new TwoServers(pool, client);
            assertThat(first.receive("ana", "m-1", "a")).isInstanceOf(Executed.class);
            client.flushAll();
            assertThat(second.receive("ana", "m-1", "a")).isInstanceOf(Replayed.class);
            assertThat(second.databaseAsked()).isPositive();
            redis.kill();
            for (int i = 2; i < 20; i++) {
                assertThat(first.receive("ana", "m-" + i, "a")).isInstanceOf(Executed.class);
                assertThat(second.receive("ana", "m-" + i, "a")).isInstanceOf(Replayed.class);
            }
        } finally {
            pool.dispose();
        }
    }
}
