package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.Window;
import dev.idempotency.store.CaffeineStore;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.WindowContract;
import dev.idempotency.window.CaffeineWindow;
import dev.idempotency.window.SharedWindow;
import dev.idempotency.window.TieredWindow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/** The window's contract on a window in Redis: alone, and behind one in the process. */
@ParameterizedClass
@CsvSource({"SINGLE, false", "SINGLE, true", "CLUSTER, false", "CLUSTER, true", "INSTALLED, true"})
final class RedisWindowContractTest implements WindowContract<Lease> {

    private final RedisServers server;
    private final boolean tiered;
    private final String prefix = UUID.randomUUID().toString();
    private final Map<IdempotencyKey, Integer> effects = new ConcurrentHashMap<>();

    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    private final IdempotencyStore<Lease, @Nullable String> store = CaffeineStore.leased(Codec.utf8());

    RedisWindowContractTest(RedisServers server, boolean tiered) {
        this.server = server;
        this.tiered = tiered;
    }

    @Override
    public IdempotencyStore<Lease, @Nullable String> store() {
        return store;
    }

    @Override
    public IdempotencyStore<Lease, @Nullable String> anotherServer() {
        return store;
    }

    @Override
    public void performs(Lease lease, Request request, @Nullable String response) {
        request.keys().forEach(key -> effects.merge(key, 1, Integer::sum));
    }

    @Override
    public int effects(IdempotencyKey key) {
        return effects.getOrDefault(key, 0);
    }

    @Override
    public Window.Spec window(Duration duration) {
        Written written = new Written(RedisWindow.lasting(duration, server.client(), Codec.utf8())
                .prefix(prefix)
                .answersWithin(Duration.ofSeconds(10)));
        return tiered ? TieredWindow.of(CaffeineWindow.lasting(duration), written) : written;
    }

    @Test
    @Override
    @DisplayName("W-5: not of a window in Redis")
    public void windowTooSmall_theStoreStopsTheRepeats() {
        Assumptions.abort("no bound on entries: Redis evicts by its own settings, see RedisWindowFaultsTest, R-6");
    }

    @Test
    @Override
    @DisplayName("W-6, W4: not of a window in Redis")
    public void keySentEveryMinute_isExecutedOnce() {
        Assumptions.abort("Redis counts by its own clock, which no test turns: see RedisWindowTest, W4");
    }

    @Test
    @Override
    @DisplayName("W-10, W3: not of a window in Redis")
    public void recordExpiresBeforeTheWindowsEntry_countsAsNew() {
        Assumptions.abort("Redis counts by its own clock, which no test turns: see RedisWindowTest, W3");
    }

    @Test
    @Override
    @DisplayName("W-8: the window is the one that was there before the restart, so that it replays at once")
    public void newWindowOverTheSameRecords_replays() {
        Window.Spec window = window(Duration.ofMinutes(1));
        Request request = Request.of(IdempotencyKey.of("im", "ana", "1"));
        Outcome<@Nullable String> first =
                Idempotency.with(store).window(window).build().execute(request, lease -> "before");
        assertThat(first).isEqualTo(new Outcome.Executed<>("before"));
        Outcome<@Nullable String> again =
                Idempotency.with(store).window(window).build().execute(request, lease -> "after");
        assertThat(again)
                .isEqualTo(new Outcome.Replayed<>("before", request.keys().get(0), Outcome.Source.WINDOW));
    }

    /** A window in Redis in which everything that was put is there at the next look, by whomever. */
    private record Written(RedisWindow.Spec spec) implements SharedWindow.Spec {

        @Override
        public Duration lasting() {
            return spec.lasting();
        }

        @Override
        public <R extends @Nullable Object> SharedWindow<R> create() {
            RedisWindow<R> window = spec.create();
            return new SharedWindow<>() {
                @Override
                public long now() {
                    return window.now();
                }

                @Override
                public @Nullable Held<R> held(IdempotencyKey key) {
                    return window.held(key);
                }

                @Override
                public void put(IdempotencyKey key, Original<R> original, long deadline) {
                    window.put(key, original, deadline);
                    window.flush();
                }

                @Override
                public void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
                    window.putAll(keys, original, deadline);
                    window.flush();
                }

                @Override
                public void remove(IdempotencyKey key) {
                    window.remove(key);
                }

                @Override
                public void clear() {
                    window.clear();
                }

                @Override
                public Stats stats() {
                    return window.stats();
                }
            };
        }
    }
}
