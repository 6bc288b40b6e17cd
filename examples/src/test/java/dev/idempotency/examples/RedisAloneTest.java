package dev.idempotency.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.servers.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RedisAloneTest {

    @Test
    @DisplayName("W-8: two runs on one Redis: the second one replays all, with the same responses")
    void run_twiceOnOneRedis_replays() {
        try (RedisServer server = RedisServer.start("--save", "")) {
            int port = server.port();
            List<String> first = linesOfRun(port);
            List<String> second = linesOfRun(port);
            assertThat(first).filteredOn(line -> line.contains("Executed")).hasSize(2);
            assertThat(first).filteredOn(line -> line.contains("Replayed[")).hasSize(2);
            assertThat(second).filteredOn(line -> line.contains("Replayed[")).hasSize(4);
            assertThat(first).filteredOn(line -> line.startsWith("warning")).isNotEmpty();
        }
    }

    private static List<String> linesOfRun(int port) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        RedisAlone.run("127.0.0.1", port, new PrintStream(out, true, UTF_8));
        return out.toString(UTF_8).lines().toList();
    }
}
