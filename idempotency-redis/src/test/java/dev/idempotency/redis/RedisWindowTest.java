package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.Window;
import dev.idempotency.store.Lease;
import dev.idempotency.window.SharedWindow.Held;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/** What is put comes back, on one server, on a cluster, and on the Redis that is installed. */
@ParameterizedClass
@EnumSource(RedisServers.class)
final class RedisWindowTest {

    private static final Duration LASTING = Duration.ofMinutes(5);
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    private static final IdempotencyKey KEY = IdempotencyKey.of("im", "ana", "m1");
    private static final IdempotencyKey OTHER = IdempotencyKey.of("notice", "erp", "b1");

    private final UnifiedJedis client;
    private final String prefix = UUID.randomUUID() + "[*]?^\\:";
    private final RedisWindow<@Nullable String> window;

    RedisWindowTest(RedisServers server) {
        client = server.client();
        window = window(prefix);
    }

    private RedisWindow<@Nullable String> window(String keys) {
        return RedisWindow.lasting(LASTING, client, Codec.utf8())
                .prefix(keys)
                .answersWithin(Duration.ofSeconds(10))
                .create();
    }

    private byte[] spelled(IdempotencyKey key) {
        byte[] start = (prefix + '\0').getBytes(StandardCharsets.UTF_8);
        byte[] rest = key.toBytes();
        byte[] all = java.util.Arrays.copyOf(start, start.length + rest.length);
        System.arraycopy(rest, 0, all, start.length, rest.length);
        return all;
    }

    private void put(IdempotencyKey key, Object identity, String response) {
        window.put(key, new Original<>(identity, response, null), window.now() + MINUTE);
        window.flush();
    }

    @Test
    @DisplayName("S12: null, empty and large responses come back, with identity and fingerprint, in every process")
    void put_anyResponse_comesBack() {
        for (String response : new String[] {null, "", "ok", "x".repeat(100_000), "é\0{\r\n"}) {
            Original<@Nullable String> original = new Original<>(7L, response, Fingerprint.sha256("body"));
            window.put(KEY, original, window.now() + MINUTE);
            window.flush();
            assertThat(window(prefix).get(KEY)).isEqualTo(original);
        }
        assertThat(window.get(OTHER)).isNull();
    }

    @Test
    void put_identityWithAFormInBytes_isEqualAfterwards() {
        for (Object identity :
                List.of(7L, 7, Long.MIN_VALUE, Integer.MIN_VALUE, UUID.randomUUID(), "", "é😀", "x".repeat(65_535))) {
            put(KEY, identity, "ok");
            assertThat(Objects.requireNonNull(window.get(KEY)).identity()).isEqualTo(identity);
        }
    }

    @Test
    @DisplayName("W2: names that were put at once are of the same record, and of no other, whatever its identity")
    void putAll_identityWithoutAForm_isSharedByTheNames() {
        for (Object identity : List.of(new Object(), "\ud800", "x".repeat(65_536))) {
            Original<@Nullable String> original = new Original<>(identity, "ok", null);
            window.putAll(List.of(KEY, OTHER), original, window.now() + MINUTE);
            window.flush();
            Object shared = Objects.requireNonNull(window.get(KEY)).identity();
            assertThat(Objects.requireNonNull(window.get(OTHER)).identity()).isEqualTo(shared);
            window.put(OTHER, original, window.now() + MINUTE);
            window.flush();
            assertThat(Objects.requireNonNull(window.get(OTHER)).identity()).isNotEqualTo(shared);
        }
    }

    @Test
    @DisplayName("W3, W5: an entry has an expiry from its first moment: that of the window, or of the record")
    void put_entry_expires() {
        window.putAll(List.of(KEY, OTHER), new Original<>(7L, "ok", null), window.now() + 20 * MINUTE);
        window.flush();
        assertThat(client.pttl(spelled(KEY))).isBetween(1L, LASTING.toMillis());
        assertThat(client.pttl(spelled(OTHER))).isBetween(1L, LASTING.toMillis());
        put(KEY, 7L, "ok");
        assertThat(client.pttl(spelled(KEY))).isBetween(1L, 60_000L);
        Held<@Nullable String> held = Objects.requireNonNull(window.held(KEY));
        assertThat(held.remaining()).isBetween(Duration.ofMillis(1), Duration.ofMillis(59_999));
    }

    @Test
    @DisplayName("W4: a look does not prolong an entry")
    void get_again_doesNotProlong() {
        put(KEY, 7L, "ok");
        client.pexpire(spelled(KEY), 10_000);
        window.get(KEY);
        assertThat(client.pttl(spelled(KEY))).isBetween(1L, 10_000L);
    }

    @Test
    @DisplayName("W3: what reached Redis late is not served after its record's end")
    void get_recordHasEnded_isAMiss() {
        long now = System.currentTimeMillis();
        byte[] payload = dev.idempotency.store.Payload.encode(Codec.utf8(), "late");
        SetParams minute = new SetParams().px(60_000);
        client.set(spelled(KEY), new WindowValue(7L, null, now - 1, payload).toBytes(), minute);
        assertThat(window.get(KEY)).isNull();
        client.set(spelled(KEY), new WindowValue(7L, null, now + 30_000, payload).toBytes(), minute);
        assertThat(Objects.requireNonNull(window.held(KEY)).remaining()).isLessThanOrEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void put_recordAlmostOver_isNotKept() {
        window.put(KEY, new Original<>(7L, "ok", null), window.now() + 999_999);
        window.flush();
        window.put(OTHER, new Original<>(7L, "ok", null), window.now() - MINUTE);
        window.flush();
        assertThat(client.exists(spelled(KEY)) || client.exists(spelled(OTHER))).isFalse();
    }

    @Test
    void put_largerThanTheLimit_isNotKept() {
        put(KEY, 7L, "x".repeat(RedisWindow.MAX_RESPONSE_BYTES + 1));
        assertThat(window.get(KEY)).isNull();
    }

    @Test
    @DisplayName("many keys at once: each as by itself, in the order in which they were asked for")
    void getAll_someThere_someNot() {
        List<IdempotencyKey> keys = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            keys.add(IdempotencyKey.of("im", "ana", "" + i));
            if (i % 3 == 0) {
                put(keys.get(i), (long) i, "response " + i);
            }
        }
        client.set(spelled(keys.get(7)), new byte[] {2, 1, 0}, new SetParams().px(60_000));
        List<@Nullable Original<@Nullable String>> found = window.getAll(keys);
        assertThat(found).hasSize(50);
        for (int i = 0; i < 50; i++) {
            assertThat(found.get(i)).isEqualTo(i % 3 == 0 ? new Original<>((long) i, "response " + i, null) : null);
        }
        assertThat(window.stats()).isEqualTo(new Window.Stats(17, 33, 0, 0));
        assertThatThrownBy(() -> put(KEY, 7L, "ok"))
                .as("what could not be read is told later")
                .isInstanceOf(UnreadableRecordException.class);
        assertThat(window.getAll(List.of())).isEmpty();
    }

    @Test
    @DisplayName("R-9, W2: a store whose keys begin as a window's keeps its records when the window is cleared")
    void clear_storeBeside_keepsItsRecords() {
        for (String keys : List.of(prefix, prefix.substring(0, 36))) {
            RedisLeaseOptions options = RedisLeaseOptions.defaults().prefix(keys);
            Idempotency<Lease, String> service = Idempotency.with(RedisStores.leased(client, Codec.utf8(), options))
                    .build();
            Request request = Request.of(IdempotencyKey.of(prefix.substring(36), "ana", "1"));
            service.execute(request, lease -> "kept");
            window.clear();
            assertThat(service.execute(request, lease -> "again")).isInstanceOf(Outcome.Replayed.class);
        }
    }

    @Test
    @DisplayName("R-9: no prefix and key are another prefix and another key")
    void prefixes_thatContinueEachOther_haveDifferentKeys() {
        IdempotencyKey shorter = IdempotencyKey.of("pay", "ana", "1");
        IdempotencyKey longer = IdempotencyKey.of("apay", "ana", "1");
        assertThat(new RedisKeys("s:a", null, false).of(shorter))
                .isNotEqualTo(new RedisKeys("s:", null, false).of(longer));
    }

    @Test
    void remove_oneKey_leavesTheOther() {
        window.putAll(List.of(KEY, OTHER), new Original<>(7L, "ok", null), window.now() + MINUTE);
        window.flush();
        window.remove(KEY);
        assertThat(window.get(KEY)).isNull();
        assertThat(window.get(OTHER)).isNotNull();
    }

    @Test
    @DisplayName("W2: clear() empties this window, and nothing beside it")
    void clear_manyEntries_onlyThisPrefix() {
        RedisWindow<@Nullable String> neighbour = window(prefix + "2");
        neighbour.put(KEY, new Original<>(7L, "ok", null), window.now() + MINUTE);
        neighbour.flush();
        // What an unquoted pattern would match too.
        byte[] lookalike = (prefix.replace("[*]", "*") + '\0' + "x").getBytes(StandardCharsets.UTF_8);
        client.set(lookalike, lookalike, new SetParams().px(60_000));
        for (int i = 0; i < 2_500; i++) {
            put(IdempotencyKey.of("im", "ana", "" + i), (long) i, "ok");
        }
        window.clear();
        for (int i = 0; i < 2_500; i++) {
            assertThat(window.get(IdempotencyKey.of("im", "ana", "" + i))).isNull();
        }
        assertThat(neighbour.get(KEY)).isNotNull();
        assertThat(client.exists(lookalike)).isTrue();
    }

    @Test
    @DisplayName("R-9: keys that look alike are different, braces too")
    void keys_lookAlike_areDifferent() {
        List<IdempotencyKey> keys = List.of(
                IdempotencyKey.of("n", "a:b", "c"),
                IdempotencyKey.of("n", "a", "b:c"),
                IdempotencyKey.of("n", "{a}", "b"),
                IdempotencyKey.of("n", "{a", "}b"),
                IdempotencyKey.of("n", "a", "é"),
                IdempotencyKey.of("n", "a", "e\u0301"),
                IdempotencyKey.of("n", "a", "x"),
                IdempotencyKey.of("n", "a", "x "),
                IdempotencyKey.of("n", "a", "X"));
        keys.forEach(key -> put(key, "" + key.hashCode(), key.scope() + '|' + key.id()));
        for (IdempotencyKey key : keys) {
            assertThat(Objects.requireNonNull(window.get(key)).response()).isEqualTo(key.scope() + '|' + key.id());
        }
    }

    @Test
    @DisplayName("what can't be understood is an error, and not somebody's response")
    void get_otherFormat_isUnreadable() {
        for (byte[] bytes : new byte[][] {{}, {2, 1, 0}, {1, 1, 0}, {1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}) {
            client.set(spelled(KEY), bytes, new SetParams().px(60_000));
            assertThatThrownBy(() -> window.get(KEY)).isInstanceOf(UnreadableRecordException.class);
        }
        put(KEY, 7L, "mended");
        assertThat(Objects.requireNonNull(window.get(KEY)).response()).isEqualTo("mended");
        assertThatThrownBy(() -> put(KEY, 7L, "\ud800")).isInstanceOf(StoreException.class);
    }

    @Test
    @DisplayName("S13: settings that can't be are refused")
    void spec_outOfRange_isRefused() {
        RedisWindow.Spec spec = RedisWindow.lasting(LASTING, client, Codec.utf8());
        assertThat(spec.lasting()).isEqualTo(LASTING);
        for (Runnable wrong : List.<Runnable>of(
                () -> RedisWindow.lasting(Duration.ZERO, client, Codec.utf8()),
                () -> RedisWindow.lasting(Duration.ofDays(100_000), client, Codec.utf8()),
                () -> spec.prefix(""),
                () -> spec.prefix("{a}"),
                () -> spec.answersWithin(Duration.ZERO),
                () -> spec.leftAloneFor(Duration.ofDays(1)),
                () -> spec.callsAtOnce(0))) {
            assertThatThrownBy(wrong::run).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
