package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RequestTest {

    private static IdempotencyKey key(String id) {
        return IdempotencyKey.of("n", "s", id);
    }

    @Test
    @DisplayName("S8: the order in which keys were given is kept, and that of their bytes is there too")
    void keys_inBothOrders() {
        Request request = Request.of(key("b")).and(key("a")).andIfPresent(Optional.of(key("c")));

        assertThat(request.keys()).containsExactly(key("b"), key("a"), key("c"));
        assertThat(request.keysInByteOrder()).containsExactly(key("a"), key("b"), key("c"));
    }

    @Test
    @DisplayName("J-9: no business ID is no key")
    void andIfPresent_ofNothing_addsNothing() {
        assertThat(Request.of(key("a")).andIfPresent(Optional.empty()).keys()).containsExactly(key("a"));
    }

    @Test
    @DisplayName("S13: at most four keys, and no key twice")
    void tooManyKeysOrTheSameTwice_areRefused() {
        Request four = Request.of(key("a")).and(key("b")).and(key("c")).and(key("d"));
        assertThatThrownBy(() -> four.and(key("e")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 4");
        assertThatThrownBy(() -> four.and(key("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("already");
    }

    @Test
    void request_isImmutable() {
        Request one = Request.of(key("a"));
        one.and(key("b"));
        one.fingerprint(Fingerprint.sha256("x"));

        assertThat(one.keys()).hasSize(1);
        assertThat(one.fingerprint()).isNull();
        assertThat(one.and(key("b")).fingerprint(Fingerprint.sha256("x")))
                .isEqualTo(one.fingerprint(Fingerprint.sha256("x")).and(key("b")))
                .hasSameHashCodeAs(one.fingerprint(Fingerprint.sha256("x")).and(key("b")));
    }

    @Test
    @DisplayName("S13: a fingerprint has 1 to 64 bytes, and is copied")
    void fingerprint_isCheckedAndCopied() {
        assertThatThrownBy(() -> Fingerprint.of(new byte[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Fingerprint.of(new byte[65])).isInstanceOf(IllegalArgumentException.class);
        byte[] digest = {1, 2, 3};
        Fingerprint fingerprint = Fingerprint.of(digest);
        digest[0] = 9;
        fingerprint.toBytes()[1] = 9;

        assertThat(fingerprint).isEqualTo(Fingerprint.of(new byte[] {1, 2, 3}));
        assertThat(Fingerprint.sha256("é")).isEqualTo(Fingerprint.sha256(new byte[] {(byte) 0xc3, (byte) 0xa9}));
        assertThat(Fingerprint.differ(fingerprint, null)).isFalse();
        assertThat(Fingerprint.differ(fingerprint, Fingerprint.sha256("x"))).isTrue();
    }
}
