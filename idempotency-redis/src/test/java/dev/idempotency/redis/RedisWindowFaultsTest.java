package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyListener;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.Window;
import dev.idempotency.store.CaffeineStore;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.RedisServer;
import dev.idempotency.window.CaffeineWindow;
import dev.idempotency.window.TieredWindow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;

/** A shared window whose Redis fails in one way or another: the store decides, and Redis is left alone. */
final class RedisWindowFaultsTest {

    private static final Duration LONG = Duration.ofHours(1);
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    private static final IdempotencyKey KEY = key("1");
    private static final Original<String> ORIGINAL = new Original<>(7L, "ok", null);

    private final RedisServer server = RedisServer.start("--save", "");
    private final FaultProxy proxy = new FaultProxy(server.port());
    private final RedisClient client = RedisServers.client(proxy.port(), Duration.ofSeconds(10));
    private final RedisClient direct = RedisServers.client(server);
    private final ConcurrentLinkedQueue<Throwable> heard = new ConcurrentLinkedQueue<>();
    private final AtomicInteger runs = new AtomicInteger();
    private final IdempotencyStore<Lease, String> store = CaffeineStore.leased(Codec.utf8());

    RedisWindowFaultsTest() throws IOException {}

    @AfterEach
    void close() {
        client.close();
        direct.close();
        proxy.close();
        server.close();
    }

    private static IdempotencyKey key(String id) {
        return IdempotencyKey.of("im", "ana", id);
    }

    private RedisWindow.Spec spec(Duration within, Duration rest) {
        return spec(client, within, rest);
    }

    /** Without the proxy, for a server that is killed: the proxy would take connections and hang. */
    private static RedisWindow.Spec spec(RedisClient to, Duration within, Duration rest) {
        return RedisWindow.lasting(Duration.ofMinutes(5), to, Codec.utf8())
                .answersWithin(within)
                .leftAloneFor(rest);
    }

    /** A process, with no window of its own in front of the shared one. */
    private Idempotency<Lease, String> service(Window.Spec window) {
        return Idempotency.with(store)
                .window(window)
                .listener(new IdempotencyListener() {
                    @Override
                    public void windowFailed(Throwable failure) {
                        heard.add(failure);
                    }
                })
                .build();
    }

    private Outcome<String> send(Idempotency<Lease, String> service, int id) {
        return service.execute(Request.of(key("" + id)), lease -> "answer " + runs.incrementAndGet());
    }

    private void sendAllTwice(Idempotency<Lease, String> service, int first, int count) {
        for (int id = first; id < first + count; id++) {
            String response = send(service, id).response();
            assertThat(send(service, id)).isInstanceOf(Outcome.Replayed.class);
            assertThat(send(service, id).response()).isEqualTo(response);
        }
    }

    private void sendUntilLeftAlone(Idempotency<Lease, String> service) {
        for (int id = 10; heard.stream().noneMatch(RedisWindowFaultsTest::tellsOfRest); id++) {
            assertThat(send(service, id)).isInstanceOf(Outcome.Executed.class);
        }
    }

    private static boolean tellsOfRest(Throwable failure) {
        return String.valueOf(failure.getMessage()).contains("left alone");
    }

    @Test
    @DisplayName("one round trip for a look, and one for what was committed, with any number of keys")
    void call_newKey_takesTwoRoundTrips() {
        RedisWindow<String> window = spec(Duration.ofSeconds(10), LONG).create();
        window.putAll(List.of(key("a"), key("b")), ORIGINAL, window.now() + MINUTE);
        window.flush();
        int before = proxy.requests();
        window.get(KEY);
        assertThat(proxy.requests() - before).as("requests of a look").isEqualTo(1);
        window.putAll(List.of(KEY, key("2"), key("3")), ORIGINAL, window.now() + MINUTE);
        window.flush();
        assertThat(proxy.requests() - before).as("with a publication").isEqualTo(2);
    }

    @Test
    @DisplayName("R-8: Redis is down: the database decides, and after a few calls nothing is tried any more")
    void redisDown_storeDecides_redisIsLeftAlone() {
        Idempotency<Lease, String> service = service(spec(direct, Duration.ofSeconds(10), LONG));
        sendAllTwice(service, 0, 5);
        assertThat(heard).isEmpty();
        server.kill();
        sendAllTwice(service, 0, 50);
        assertThat(runs).hasValue(50);
        assertThat(heard).as("failures told").hasSizeBetween(6, 20);
        assertThat(heard)
                .as("two of them say that Redis is left alone: for looks and for writes")
                .filteredOn(RedisWindowFaultsTest::tellsOfRest)
                .hasSize(2);
        int told = heard.size();
        sendAllTwice(service, 50, 50);
        assertThat(heard).as("nothing more is told").hasSize(told);
    }

    @Test
    @DisplayName("R-8: a Redis that hangs costs the agreed time a few times, and nothing is sent after that")
    void redisHangs_storeDecides_nothingIsSent() {
        Idempotency<Lease, String> service = service(spec(Duration.ofMillis(20), LONG));
        proxy.hold(Integer.MAX_VALUE);
        sendAllTwice(service, 0, 20);
        int sent = proxy.requests();
        sendAllTwice(service, 20, 100);
        assertThat(proxy.requests()).as("requests").isEqualTo(sent);
        assertThat(runs).hasValue(120);
    }

    @Test
    @DisplayName("R-8: when Redis is back, it is used again")
    void redisBack_isUsedAgain() {
        RedisWindow<String> window =
                spec(direct, Duration.ofSeconds(10), Duration.ofMillis(10)).create();
        server.kill();
        for (int i = 0; i < 20; i++) {
            try {
                window.put(KEY, ORIGINAL, window.now() + MINUTE);
                window.get(KEY);
            } catch (RuntimeException failed) {
                heard.add(failed);
            }
        }
        assertThat(heard).isNotEmpty();
        server.restart();
        while (!keeps(window)) {
            Thread.onSpinWait();
        }
        assertThat(window.get(KEY)).isEqualTo(ORIGINAL);
    }

    private static boolean keeps(RedisWindow<String> window) {
        try {
            window.put(KEY, ORIGINAL, window.now() + MINUTE);
            window.flush();
            return window.get(KEY) != null;
        } catch (RuntimeException stillDown) {
            return false;
        }
    }

    @Test
    @DisplayName("a reply that drips in for ever holds nobody up")
    void reply_drips_isGivenUp() throws IOException {
        AtomicBoolean drips = new AtomicBoolean();
        ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(() -> {
            while (true) {
                Socket caller = listening.accept();
                daemon(() -> answer(caller, drips));
            }
        });
        RedisClient slow = RedisServers.client(listening.getLocalPort(), Duration.ofSeconds(10));
        RedisWindow<String> window =
                RedisWindow.lasting(Duration.ofMinutes(5), slow, Codec.utf8()).create();
        drips.set(true);
        try (listening) {
            assertThatThrownBy(() -> window.get(KEY)).hasMessageContaining("within PT0.005S");
            window.put(KEY, ORIGINAL, window.now() + MINUTE);
            long soon = System.nanoTime() + Duration.ofMillis(6).toNanos();
            while (System.nanoTime() - soon < 0) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(() -> window.put(KEY, ORIGINAL, window.now() + MINUTE))
                    .hasMessageContaining("within PT0.005S");
        }
    }

    /** Refuses each command at once; or begins a reply, and lets a byte of it go every millisecond until the caller goes. */
    private static void answer(Socket caller, AtomicBoolean drips) throws IOException, InterruptedException {
        byte[] buffer = new byte[1 << 16];
        for (int read = caller.getInputStream().read(buffer);
                read > 0;
                read = caller.getInputStream().read(buffer)) {
            if (drips.get()) {
                caller.getOutputStream().write("$1000000\r\n".getBytes(StandardCharsets.US_ASCII));
                caller.setSoTimeout(1);
                while (!hasGone(caller)) {
                    caller.getOutputStream().write('x');
                }
                return;
            }
            String commands = new String(buffer, 0, read, StandardCharsets.UTF_8);
            for (long i = commands.lines().filter(line -> line.startsWith("*")).count(); i > 0; i--) {
                caller.getOutputStream().write("-ERR unknown command\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        }
    }

    private static boolean hasGone(Socket caller) throws IOException {
        try {
            return caller.getInputStream().read() < 0;
        } catch (SocketTimeoutException stillThere) {
            return false;
        }
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static void daemon(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException | InterruptedException ends) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Test
    @DisplayName("R-1: a reply that comes after its call was given up is nobody's answer")
    void reply_late_isNobodysAnswer() {
        RedisWindow<String> window =
                spec(Duration.ofMillis(200), LONG).callsAtOnce(1).create();
        for (int i = 0; i < 10; i++) {
            window.put(key("" + i), new Original<>((long) i, "response " + i, null), window.now() + MINUTE);
        }
        window.flush();
        proxy.hold(1);
        assertThatThrownBy(() -> window.get(key("0"))).isInstanceOf(RetryableException.class);
        proxy.letGo();
        for (int i = 1; i < 10; i++) {
            assertThat(Objects.requireNonNull(window.get(key("" + i))).response())
                    .isEqualTo("response " + i);
        }
    }

    @Test
    @DisplayName("R-3: a demoted master is left alone after a few writes, and the store decides")
    void redisReadOnly_isLeftAlone() {
        KeptWindow window = new KeptWindow(spec(Duration.ofSeconds(10), LONG));
        Idempotency<Lease, String> service = service(window);
        sendAllTwice(service, 0, 5);
        window.flush();
        command("REPLICAOF", "127.0.0.1", "1");
        assertThat(send(service, 0)).isEqualTo(new Outcome.Replayed<>("answer 1", key("0"), Outcome.Source.WINDOW));
        sendUntilLeftAlone(service);
        assertThat(heard).allMatch(RetryableException.class::isInstance).hasSizeBetween(1, 10);
        window.flush();
        int sent = proxy.requests();
        sendAllTwice(service, 0, 30);
        assertThat(proxy.requests()).as("requests").isEqualTo(sent);
    }

    @Test
    @DisplayName("a full Redis is left alone after a few writes, and used again when it has room")
    void redisFull_isLeftAlone_untilItHasRoom() {
        Idempotency<Lease, String> service = service(spec(Duration.ofSeconds(10), Duration.ofMillis(1)));
        sendAllTwice(service, 0, 5);
        direct.configSet("maxmemory", "1");
        sendUntilLeftAlone(service);
        int executed = runs.get();
        assertThat(heard).allMatch(RetryableException.class::isInstance);
        direct.configSet("maxmemory", "0");
        while (!(send(service, 0) instanceof Outcome.Replayed<String> replayed
                && replayed.source() == Outcome.Source.WINDOW)) {
            Thread.onSpinWait();
        }
        assertThat(runs).hasValue(executed);
    }

    @Test
    @DisplayName("R-6: entries evicted and flushed in mid-flight: the database stops the repeats")
    void entriesGone_storeStopsTheRepeats() {
        Idempotency<Lease, String> service = service(spec(Duration.ofSeconds(10), LONG));
        direct.configSet("maxmemory-policy", "allkeys-random");
        for (int id = 0; id < 500; id++) {
            send(service, id);
            if (id == 200) {
                direct.configSet("maxmemory", "1500000");
            }
            if (id == 300) {
                direct.flushAll();
            }
        }
        for (int id = 0; id < 500; id++) {
            assertThat(send(service, id).response()).isEqualTo("answer " + (id + 1));
        }
        assertThat(runs).hasValue(500);
    }

    @Test
    @DisplayName("R-4: SCRIPT FLUSH goes unnoticed")
    void scripts_flushed_goOn() {
        RedisWindow<String> window = spec(Duration.ofSeconds(10), LONG).create();
        window.put(KEY, ORIGINAL, window.now() + MINUTE);
        window.flush();
        direct.scriptFlush();
        assertThat(window.get(KEY)).isEqualTo(ORIGINAL);
    }

    @Test
    @DisplayName(
            "W2: a Redis that was down from the start keeps nobody from starting, nor the window in front from working")
    void redisDownFromTheStart_theFirstWindowWorks() {
        server.kill();
        TieredWindow<String> window = (TieredWindow<String>) TieredWindow.of(
                        CaffeineWindow.lasting(Duration.ofMinutes(5)), spec(direct, Duration.ofSeconds(10), LONG))
                .<String>create();
        assertThatThrownBy(() -> {
                    while (true) {
                        window.put(KEY, ORIGINAL, window.now() + MINUTE);
                    }
                })
                .isInstanceOf(RuntimeException.class);
        assertThat(window.get(KEY)).isEqualTo(ORIGINAL);
    }

    @Test
    @DisplayName("W2: who removes or clears hears that it did not work, also while Redis is left alone")
    void remove_redisDown_isHeardOf() {
        Idempotency<Lease, String> service = service(spec(direct, Duration.ofSeconds(10), LONG));
        server.kill();
        sendAllTwice(service, 0, 20);
        assertThatThrownBy(() -> service.window().remove(KEY)).isInstanceOf(RuntimeException.class);
        assertThatThrownBy(() -> service.window().clear()).isInstanceOf(RuntimeException.class);
    }

    @Test
    @DisplayName("an interrupted caller goes on to the store, still interrupted, and Redis is not to blame")
    void caller_interrupted_isStillInterrupted() {
        RedisWindow<String> window = spec(Duration.ofSeconds(10), LONG).create();
        window.put(KEY, ORIGINAL, window.now() + MINUTE);
        window.flush();
        for (int i = 0; i < 20; i++) {
            Thread.currentThread().interrupt();
            try {
                // A reply that is there before anybody waits for it is taken.
                assertThat(window.get(KEY)).isEqualTo(ORIGINAL);
            } catch (RetryableException e) {
                assertThat(e).hasMessageContaining("interrupted");
            }
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(window.get(KEY)).isEqualTo(ORIGINAL);
    }

    private void command(String... words) {
        CommandArguments command = new CommandArguments(Protocol.Command.valueOf(words[0]));
        for (int i = 1; i < words.length; i++) {
            command.add(words[i]);
        }
        direct.executeCommand(command);
    }
}
