package dev.idempotency.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Window;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CompactWindowTest extends WindowRules {

    private final CompactWindow.Spec spec =
            CompactWindow.lasting(LASTING, Codec.utf8()).ticker(nanos::get);

    @Override
    CompactWindow<@Nullable String> window() {
        return spec.create();
    }

    /** A deadline is rounded down to a 131,072nd of the window's time, or less. */
    @Override
    long early() {
        return LASTING.toNanos() >> 17;
    }

    @Test
    @DisplayName("W5: bounded by entries; the newest stay")
    void entries_areBounded() {
        for (int bound : new int[] {1, 5, 20, 1_000, 10_000}) {
            CompactWindow<@Nullable String> window = spec.atMostEntries(bound).create();
            for (int i = 0; i < 3 * bound; i++) {
                window.put(key(i), original("ok"), nanos.get() + FOR_EVER);
                assertThat(response(window, i)).isEqualTo("ok");
            }

            assertThat(window.stats().entries()).isBetween(bound / 2L + 1, (long) bound);
            assertThat(window.stats().evictions() + window.stats().entries()).isEqualTo(3L * bound);
        }
    }

    @Test
    @DisplayName("W5: bounded by bytes: large responses leave room for fewer entries")
    void bytes_areBounded() {
        CompactWindow<@Nullable String> window = spec.atMostBytes(100_000).create();
        for (int i = 0; i < 200; i++) {
            window.put(key(i), original("x".repeat(10_000)), nanos.get() + FOR_EVER);
            assertThat(response(window, i)).isNotNull();
            assertThat(window.bytes()).isLessThanOrEqualTo(100_000);
        }
        assertThat(window.stats().entries()).isBetween(5L, 9L);
        for (int i = 0; i < 2_000; i++) {
            window.put(key(i), original("x"), nanos.get() + FOR_EVER);
            assertThat(window.bytes()).isLessThanOrEqualTo(100_000);
        }
        assertThat(window.stats().entries()).isGreaterThan(1_000);
    }

    @Test
    @DisplayName("S12: a response too large to keep is not kept, and what was there for its key is gone")
    void responseThatIsTooLarge_isNotKept() {
        Window<@Nullable String> window = window();
        window.put(key(1), original("x".repeat(CompactWindow.MAX_RESPONSE_BYTES)), nanos.get() + FOR_EVER);
        assertThat(response(window, 1)).hasSize(CompactWindow.MAX_RESPONSE_BYTES);
        window.put(key(1), original("x".repeat(CompactWindow.MAX_RESPONSE_BYTES + 1)), nanos.get() + FOR_EVER);
        assertThat(response(window, 1)).isNull();
    }

    @Test
    @DisplayName(
            "K-2: a response of 70,000 bytes, changed by who put it and by who got it, is replayed as it was stored")
    void largeResponse_isCopied() {
        Window<byte[]> window =
                CompactWindow.lasting(LASTING, Codec.bytes()).ticker(nanos::get).create();
        byte[] response = new byte[70_000];
        window.put(key(1), new Original<>(1L, response, null), nanos.get() + FOR_EVER);
        response[5] = 1;
        for (int i = 0; i < 2; i++) {
            byte[] found = found(window, key(1)).response();
            assertThat(found).isEqualTo(new byte[70_000]);
            found[69_999] = 1;
        }
    }

    @Test
    void codecThatThrows_isReported_andNothingIsKept() {
        Codec<String> picky = Codec.of(
                text -> {
                    if (text.equals("unwritable")) {
                        throw new IllegalStateException("unwritable");
                    }
                    return Codec.utf8().encode(text);
                },
                bytes -> {
                    if (bytes.length == 0) {
                        throw new IllegalStateException("unreadable");
                    }
                    return Codec.utf8().decode(bytes);
                });
        Window<@Nullable String> window =
                CompactWindow.lasting(LASTING, picky).ticker(nanos::get).create();
        window.put(key(1), original("fine"), nanos.get() + FOR_EVER);
        assertThatThrownBy(() -> window.put(key(1), original("unwritable"), nanos.get() + FOR_EVER))
                .hasMessage("unwritable");
        assertThat(response(window, 1)).isNull();
        window.put(key(1), original(""), nanos.get() + FOR_EVER);
        assertThatThrownBy(() -> window.get(key(1))).hasMessage("unreadable");
    }

    @Test
    void identities_comeBackExactly() {
        Window<@Nullable String> window = window();
        List<Object> identities = List.of(
                0L,
                -1L,
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                7,
                Integer.MIN_VALUE,
                new UUID(-5, 7),
                "",
                "row-ü-😀",
                "x".repeat(255));
        for (int i = 0; i < identities.size(); i++) {
            window.put(key(i), original(identities.get(i), "ok", null), nanos.get() + FOR_EVER);
        }
        for (int i = 0; i < identities.size(); i++) {
            assertThat(identity(window, key(i))).isEqualTo(identities.get(i));
        }
    }

    @Test
    void identitiesThatAreNoBytes_equalNothingElse() {
        Window<@Nullable String> window = window();
        Window<@Nullable String> other = window();
        List<Object> identities = List.of("x".repeat(256), "\uD800", 'c', List.of(1));
        for (Object identity : identities) {
            for (int i = 0; i < 2; i++) {
                window.put(key(i), original(identity, "ok", null), nanos.get() + FOR_EVER);
            }
            assertThat(identity(window, key(0))).isNotEqualTo(identity(window, key(1)));
        }
        List<IdempotencyKey> both = List.of(key(1), key(2));
        window.putAll(both, original(new Object(), "ok", null), nanos.get() + FOR_EVER);
        other.putAll(both, original(new Object(), "ok", null), nanos.get() + FOR_EVER);
        assertThat(identity(window, key(1))).isNotEqualTo(identity(other, key(1)));
        // What comes from one window means nothing when it is put into another.
        other.put(key(3), found(window, key(1)), nanos.get() + FOR_EVER);
        assertThat(identity(other, key(3))).isNotEqualTo(identity(other, key(1)));
    }

    @Test
    @DisplayName(
            "S7: keys are told apart byte for byte, also those that look like UUIDs, and those whose hashes collide")
    void keys_areExact() {
        for (long mask : new long[] {-1, 0}) {
            Window<@Nullable String> window = spec.hashMask(mask).create();
            String uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
            List<IdempotencyKey> keys = List.of(
                    IdempotencyKey.of("n", "s", uuid),
                    IdempotencyKey.of("n", "s", uuid.toUpperCase(java.util.Locale.ROOT)),
                    IdempotencyKey.of("n", "s", uuid.replace("-", "")),
                    IdempotencyKey.of("n", "s", uuid.replace('0', '\u0130')),
                    IdempotencyKey.of("n", "s", uuid.replace('f', 'g')),
                    IdempotencyKey.of("n", "s", uuid.replace('f', 'F')),
                    IdempotencyKey.of("n", "s", uuid + " "),
                    IdempotencyKey.of("n", "s", uuid.replaceFirst("-", "0")),
                    IdempotencyKey.of("n", "s", uuid.substring(1)),
                    IdempotencyKey.of("n2", "s", uuid),
                    IdempotencyKey.of("n", "s2", uuid),
                    IdempotencyKey.of("n", "Ab", "1"),
                    IdempotencyKey.of("n", "aB", "1"),
                    IdempotencyKey.of("n", "a", "b1"),
                    IdempotencyKey.of("n", "ab", "1"),
                    IdempotencyKey.of("na", "b", "1"),
                    IdempotencyKey.of("n", "é", "1"),
                    IdempotencyKey.of("n", "e\u0301", "1"),
                    IdempotencyKey.of("n", "i", "1"),
                    IdempotencyKey.of("n", "ũ", "1"),
                    IdempotencyKey.of("n", "😀1", "1"),
                    IdempotencyKey.of("n", "😁1", "1"),
                    IdempotencyKey.of("n".repeat(64), "s".repeat(191), "i".repeat(255)),
                    IdempotencyKey.of("n".repeat(64), "s".repeat(191), "i".repeat(254) + "j"),
                    IdempotencyKey.of("n".repeat(63), "é".repeat(95), "ü".repeat(127)));
            for (int i = 0; i < keys.size(); i++) {
                assertThat(window.get(keys.get(i))).as(keys.get(i).toString()).isNull();
                window.put(keys.get(i), original((long) i, "r" + i, null), nanos.get() + FOR_EVER);
            }
            for (int i = 0; i < keys.size(); i++) {
                assertThat(found(window, keys.get(i)).response()).isEqualTo("r" + i);
            }
        }
    }

    @Test
    @DisplayName("S7: another character in a UUID, at each place, is another key, whether it makes it none or not")
    void idsThatAreNearlyUuids_areExact() {
        Window<@Nullable String> window = spec.hashMask(0).create();
        String uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
        window.put(IdempotencyKey.of("n", "s", uuid), original("uuid"), nanos.get() + FOR_EVER);
        for (int i = 0; i < uuid.length(); i++) {
            for (char c :
                    new char[] {'1', 'c', 'g', 'A', '/', ':', '`', '-', '\u0130', (char) (uuid.charAt(i) + 0x200)}) {
                if (c != uuid.charAt(i)) {
                    IdempotencyKey other =
                            IdempotencyKey.of("n", "s", uuid.substring(0, i) + c + uuid.substring(i + 1));
                    assertThat(window.get(other)).isNull();
                    window.put(other, original(i + "." + c), nanos.get() + FOR_EVER);
                    assertThat(found(window, other).response()).isEqualTo(i + "." + c);
                }
            }
        }
        assertThat(found(window, IdempotencyKey.of("n", "s", uuid)).response()).isEqualTo("uuid");
        IdempotencyKey zeros = IdempotencyKey.of("n", "s", new UUID(0, 0).toString());
        assertThat(window.get(zeros)).isNull();
        window.put(zeros, original("zeros"), nanos.get() + FOR_EVER);
        assertThat(found(window, zeros).response()).isEqualTo("zeros");
    }

    @Test
    void bytes_ofWhatWasRemoved_areCountedBackOnce() {
        CompactWindow<@Nullable String> window = spec.create();
        long empty = window.bytes();
        IdempotencyKey key = IdempotencyKey.of("n", "s", "1");
        window.put(key, original("r"), nanos.get() + FOR_EVER);
        window.remove(key);
        assertThat(window.bytes()).isEqualTo(empty);
    }

    @Test
    void namespaces_beyondThoseThatGetANumber_areKeptAll() {
        Window<@Nullable String> window = window();
        for (int i = 0; i < 40; i++) {
            window.put(IdempotencyKey.of("ns" + i, "s", "1"), original("r" + i), nanos.get() + FOR_EVER);
        }
        for (int i = 0; i < 40; i++) {
            assertThat(found(window, IdempotencyKey.of("ns" + i, "s", "1")).response())
                    .isEqualTo("r" + i);
        }
    }

    @Test
    @DisplayName("a window that was full gives its memory back while a little traffic goes on, in all its parts")
    void memory_isGivenBackWhenTrafficFalls() {
        CompactWindow<@Nullable String> window = window();
        for (int i = 0; i < 200_000; i++) {
            nanos.addAndGet(100_000);
            window.put(key(i), original("ok"), nanos.get() + FOR_EVER);
        }
        long full = window.bytes();
        assertThat(full).isGreaterThan(200_000 * 30);
        for (int i = 0; i < 20_000; i++) {
            nanos.addAndGet(10_000_000);
            window.get(key(-1 - i));
            if (i % 4 == 0) {
                window.put(key(1_000_000 + i), original("ok"), nanos.get() + FOR_EVER);
            }
        }
        assertThat(window.stats().entries()).isBetween(800L, 1_000L);
        assertThat(window.bytes()).isLessThan(full / 20);
    }

    @Test
    @DisplayName("putting one key again and again keeps no more than one entry's bytes, and a little")
    void puttingAgain_doesNotPileUp() {
        CompactWindow<@Nullable String> window = window();
        window.put(key(0), original("stays"), nanos.get() + FOR_EVER);
        for (int i = 0; i < 1_000_000; i++) {
            window.put(key(1), original("r" + i), nanos.get() + FOR_EVER);
        }
        assertThat(response(window, 0)).isEqualTo("stays");
        assertThat(response(window, 1)).isEqualTo("r999999");
        assertThat(window.stats().entries()).isEqualTo(2);
        assertThat(window.bytes()).isLessThan(100_000);
    }

    @Test
    @DisplayName("S13: what can't be a window is refused when it is described")
    void wrongSpecs_areRefused() {
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatThrownBy(() -> CompactWindow.lasting(wrong, Codec.utf8()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> spec.atMostEntries(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> spec.atMostBytes(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    private static <R extends @Nullable Object> Original<R> found(Window<R> window, IdempotencyKey key) {
        Original<R> found = window.get(key);
        assertThat(found).isNotNull();
        return java.util.Objects.requireNonNull(found);
    }
}
