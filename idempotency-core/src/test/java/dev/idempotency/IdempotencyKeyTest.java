package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotencyKeyTest {

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " ", "\t\n", "\u2003", "a\0b", "\0", "\uD83D", "\uDE00", "a\uD83Db", "\uDE00\uD83D"})
    @DisplayName("K-4, J-7, S13: null, empty, blank, NUL and lone surrogates are refused in each part")
    void part_notAllowed_isRefused(@Nullable String part) {
        assertThatThrownBy(() -> of(part, "s", "i"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("namespace");
        assertThatThrownBy(() -> of("n", part, "i"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("scope");
        assertThatThrownBy(() -> of("n", "s", part))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("id");
    }

    @SuppressWarnings("NullAway") // Null is what this test is about.
    private static IdempotencyKey of(@Nullable String namespace, @Nullable String scope, @Nullable String id) {
        return IdempotencyKey.of(namespace, scope, id);
    }

    @Test
    @DisplayName("S13: lengths count bytes of UTF-8, and the limit itself is allowed")
    void length_isCountedInBytes() {
        assertThat(IdempotencyKey.of("n".repeat(64), "s".repeat(191), "i".repeat(255))
                        .toBytes())
                .hasSize(IdempotencyKey.MAX_BYTES);
        IdempotencyKey.of("n", "s", "é".repeat(127));
        IdempotencyKey.of("n", "s", "😀".repeat(63) + "abc");

        for (String tooLong : List.of("i".repeat(256), "é".repeat(128), "€".repeat(86), "😀".repeat(64))) {
            assertThatThrownBy(() -> IdempotencyKey.of("n", "s", tooLong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("255 bytes");
        }
        assertThatThrownBy(() -> IdempotencyKey.of("n".repeat(65), "s", "i")).hasMessageContaining("64 bytes");
        assertThatThrownBy(() -> IdempotencyKey.of("n", "s".repeat(192), "i")).hasMessageContaining("191 bytes");
    }

    @Test
    @DisplayName(
            "J-5: two 300-character IDs with a common beginning are refused, never cut into one; the message is short")
    void longIds_areRefused_withoutPrintingThem() {
        for (String id : List.of("x".repeat(299) + "1", "x".repeat(299) + "2")) {
            assertThatThrownBy(() -> IdempotencyKey.of("n", "s", id))
                    .isInstanceOf(IllegalArgumentException.class)
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("x".repeat(20)));
        }
    }

    @Test
    @DisplayName("R-9: parts can't run into each other")
    void separatorsInParts_makeDifferentKeys() {
        IdempotencyKey one = IdempotencyKey.of("n", "a:b", "c");
        IdempotencyKey two = IdempotencyKey.of("n", "a", "b:c");
        assertThat(one).isNotEqualTo(two);
        assertThat(one.toBytes()).isNotEqualTo(two.toBytes());
        assertThat(IdempotencyKey.of("{n", "a}", "c").toBytes())
                .isNotEqualTo(IdempotencyKey.of("{n}", "a", "c").toBytes());
    }

    @Test
    @DisplayName("J-6, S7: case, trailing blanks, accents and emoji count")
    void similarKeys_areDifferent() {
        assertThat(List.of("Ab", "aB", "ab", "ab ", " ab", "\u00e9", "e\u0301", "😀1", "😁1"))
                .extracting(id ->
                        HexFormat.of().formatHex(IdempotencyKey.of("n", "s", id).toBytes()))
                .doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("S8: keys are ordered as their bytes, supplementary characters too")
    void compareTo_isOrderOfBytes() {
        Random random = new Random(42);
        String[] alphabet = {"a", "b", "Z", "é", "€", "\uE000", "\uFFFD", "😀", "\uD7FF", "\u0001", "ab"};
        for (int i = 0; i < 100_000; i++) {
            IdempotencyKey one = random(random, alphabet);
            IdempotencyKey two = random(random, alphabet);
            int byBytes = Arrays.compareUnsigned(one.toBytes(), two.toBytes());
            assertThat(Integer.signum(one.compareTo(two)))
                    .as("%s and %s", one.id(), two.id())
                    .isEqualTo(Integer.signum(byBytes));
            assertThat(one.equals(two)).isEqualTo(byBytes == 0);
        }
    }

    private static IdempotencyKey random(Random random, String[] alphabet) {
        return IdempotencyKey.of(text(random, alphabet), text(random, alphabet), text(random, alphabet));
    }

    private static String text(Random random, String[] alphabet) {
        StringBuilder text = new StringBuilder("x");
        for (int i = random.nextInt(3); i > 0; i--) {
            text.append(alphabet[random.nextInt(alphabet.length)]);
        }
        return random.nextBoolean() ? text.substring(text.length() > 1 ? 1 : 0) : text.toString();
    }

    @Test
    void toBytes_isPartsWithNulBetween() {
        assertThat(new String(IdempotencyKey.of("im", "ana", "é1").toBytes(), StandardCharsets.UTF_8))
                .isEqualTo("im\0ana\0é1");
    }

    @Test
    @DisplayName("S13: a key in a log is short, has no control characters, and is not there whole")
    void toString_isAbridged() {
        assertThat(IdempotencyKey.of("im", "user-1234567890", "a\nb\u001b[31m"))
                .hasToString("im/user-12…(15)/a?b?…(8)");
        assertThat(IdempotencyKey.of("im", "a", "m1")).hasToString("im/…(1)/m…(2)");
    }
}
