package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.store.CaffeineStore;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.RedisServer;
import dev.idempotency.window.CaffeineWindow;
import dev.idempotency.window.TieredWindow;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** What is put into a shared window while an earlier write is under way: it is queued, and goes out together. */
final class RedisWindowWritesTest {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    private static final IdempotencyKey KEY = key(0);
    private static final Original<String> ORIGINAL = new Original<>(7L, "ok", null);

    private final RedisServer server = RedisServer.start("--save", "");
    private final FaultProxy proxy = new FaultProxy(server.port());
    private final RedisClient client = RedisServers.client(proxy.port(), Duration.ofSeconds(10));
    private final RedisWindow.Spec spec =
            RedisWindow.lasting(Duration.ofMinutes(5), client, Codec.utf8()).answersWithin(Duration.ofSeconds(10));
    private final RedisWindow<String> window = spec.create();

    RedisWindowWritesTest() throws IOException {}

    @AfterEach
    void close() {
        client.close();
        proxy.close();
        server.close();
    }

    private static IdempotencyKey key(int id) {
        return IdempotencyKey.of("im", "ana", "" + id);
    }

    /** Sends something whose reply is held back, so that what is put then has to wait. */
    private void holdAWrite() {
        int before = proxy.requests();
        proxy.hold(1);
        window.put(key(-1), ORIGINAL, window.now() + MINUTE);
        while (proxy.requests() == before) {
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName("nobody waits for a write, and those that gather meanwhile are one round trip")
    void put_whileAnotherIsUnderWay_goesOutTogether() {
        window.flush();
        int before = proxy.requests();
        holdAWrite();
        for (int id = 0; id < 50; id++) {
            window.put(key(id), ORIGINAL, window.now() + MINUTE);
        }
        proxy.letGo();
        window.flush();
        assertThat(proxy.requests() - before).as("round trips").isEqualTo(2);
        for (int id = 0; id < 50; id++) {
            assertThat(window.get(key(id))).isEqualTo(ORIGINAL);
        }
    }

    /** How often the server has run a command. */
    private long calls(String command) {
        try (RedisClient direct = RedisServers.client(server)) {
            Matcher calls =
                    Pattern.compile("cmdstat_" + command + ":calls=(\\d+)").matcher(direct.info("commandstats"));
            return calls.find() ? Long.parseLong(calls.group(1)) : 0;
        }
    }

    @Test
    @DisplayName("W2: what was put before a key is removed, or everything cleared, is not written after it")
    void removeAndClear_whileAWriteIsQueued_dropIt() throws InterruptedException {
        // So that there are two connections: what a new one is greeted with would be held as well.
        holdAWrite();
        window.get(KEY);
        proxy.letGo();
        window.flush();
        Map<String, Runnable> removals = Map.of("unlink", () -> window.remove(KEY), "scan", window::clear);
        for (Map.Entry<String, Runnable> removal : removals.entrySet()) {
            long before = calls(removal.getKey());
            holdAWrite();
            // One pipeline goes ahead of the key's.
            for (int id = 1; id <= 100; id++) {
                window.put(key(id), ORIGINAL, window.now() + MINUTE);
            }
            window.put(KEY, ORIGINAL, window.now() + MINUTE);
            Thread thread = new Thread(removal.getValue());
            thread.start();
            while (thread.getState() != Thread.State.WAITING) {
                assertThat(thread.isAlive()).as("waits for what is being sent").isTrue();
            }
            // That one's reply is held, so that the key's could only be written after it is removed.
            proxy.hold(Integer.MAX_VALUE);
            while (calls(removal.getKey()) == before) {
                Thread.onSpinWait();
            }
            proxy.heal();
            proxy.letGo();
            thread.join();
            window.flush();
            assertThat(window.get(KEY)).as(removal.getKey()).isNull();
        }
        window.put(KEY, ORIGINAL, window.now() + MINUTE);
        window.flush();
        assertThat(window.get(KEY)).as("put afterwards").isEqualTo(ORIGINAL);
    }

    @Test
    @DisplayName("W3: the time of an entry counts from when it was put, and not from when it was written")
    void put_waitsPastItsTime_isNotWritten() {
        holdAWrite();
        long deadline = window.now() + Duration.ofMillis(20).toNanos();
        window.put(KEY, ORIGINAL, deadline);
        window.put(key(1), ORIGINAL, window.now() + MINUTE);
        while (window.now() - deadline < 0) {
            Thread.onSpinWait();
        }
        long before = calls("set");
        proxy.letGo();
        window.flush();
        assertThat(calls("set") - before).as("the other one alone is written").isEqualTo(1);
        assertThat(window.get(KEY)).isNull();
        assertThat(window.get(key(1))).isEqualTo(ORIGINAL);
    }

    @Test
    @DisplayName("a batch looks once for all that the window in front has not, and once more for their further keys")
    void executeAll_manyRequests_takesOneLook() {
        Idempotency<Lease, String> service = Idempotency.with(CaffeineStore.<String>leased(Codec.utf8()))
                .window(TieredWindow.of(CaffeineWindow.lasting(Duration.ofMinutes(5)), spec))
                .build();
        List<Request> requests = IntStream.range(0, 100)
                .mapToObj(id -> Request.of(key(id)).and(IdempotencyKey.of("notice", "erp", "" + id)))
                .toList();
        for (Request request : requests.subList(0, 50)) {
            window.putAll(request.keys(), ORIGINAL, window.now() + MINUTE);
        }
        window.flush();
        int before = proxy.requests();
        int[] looks = {0};
        List<Outcome<String>> outcomes = service.executeAll(requests, (lease, fresh) -> {
            looks[0] = looks[0] == 0 ? proxy.requests() - before : looks[0];
            Map<Request, String> answers = new HashMap<>();
            fresh.forEach(request -> answers.put(request, "new"));
            return answers;
        });
        assertThat(looks[0]).as("round trips before anything is run").isEqualTo(2);
        assertThat(outcomes.subList(0, 50))
                .allMatch(outcome -> outcome instanceof Outcome.Replayed<String> replayed
                        && replayed.source() == Outcome.Source.WINDOW);
        assertThat(outcomes.subList(50, 100)).allMatch(new Outcome.Executed<>("new")::equals);
    }
}
