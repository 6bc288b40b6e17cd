package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("S12: payloads")
class PayloadTest {

    private static final Codec<String> CODEC = Codec.utf8();

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "false", "[]", "\0", "😀"})
    void decode_encodedText_isTheSameText(String text) {
        assertThat(Payload.decode(CODEC, Payload.encode(CODEC, text))).isEqualTo(text);
    }

    @Test
    void decode_encodedNull_isNullAndNotEmpty() {
        assertThat(Payload.decode(CODEC, Payload.encode(CODEC, null))).isNull();
    }

    @Test
    void decode_largeResponse_isTheSame() {
        byte[] large = new byte[70_000];
        Arrays.fill(large, (byte) 7);
        assertThat(Payload.decode(Codec.bytes(), Payload.encode(Codec.bytes(), large)))
                .isEqualTo(large);
    }

    @Test
    void encode_layout_isVersionKindAndBytes() {
        assertThat(Payload.encode(CODEC, null)).containsExactly(1, 0);
        assertThat(Payload.encode(CODEC, "")).containsExactly(1, 1);
        assertThat(Payload.encode(CODEC, "a")).containsExactly(1, 1, 'a');
        assertThat(Payload.unavailable()).containsExactly(1, 2);
    }

    @Test
    void decode_unavailableMark_isTold() {
        assertThatThrownBy(() -> Payload.decode(CODEC, Payload.unavailable()))
                .isInstanceOf(ResponseUnavailableException.class);
    }

    @Test
    void decode_noPayload_isUnreadable() {
        assertThatThrownBy(() -> Payload.decode(CODEC, null)).isInstanceOf(UnreadableRecordException.class);
    }

    static List<byte[]> unknownFormats() {
        return List.of(
                new byte[0], new byte[] {1}, new byte[] {2, 1, 'a'}, new byte[] {0, 1}, new byte[] {1, 3}, new byte[] {
                    1, -1
                });
    }

    @ParameterizedTest
    @MethodSource("unknownFormats")
    void decode_unknownFormat_isUnreadable(byte[] payload) {
        assertThatThrownBy(() -> Payload.decode(CODEC, payload)).isInstanceOf(UnreadableRecordException.class);
    }

    @Test
    void decode_codecThrows_isUnreadableWithTheCause() {
        IllegalStateException cause = new IllegalStateException("not mine");
        Codec<String> broken = Codec.of(text -> new byte[0], bytes -> {
            throw cause;
        });
        assertThatThrownBy(() -> Payload.decode(broken, new byte[] {1, 1}))
                .isInstanceOf(UnreadableRecordException.class)
                .hasCause(cause);
    }

    @Test
    void encode_codecThrows_isAStoreExceptionWithTheCause() {
        IllegalStateException cause = new IllegalStateException("no form");
        Codec<String> broken = Codec.of(
                text -> {
                    throw cause;
                },
                bytes -> "");
        assertThatThrownBy(() -> Payload.encode(broken, "a"))
                .isInstanceOf(StoreException.class)
                .hasCause(cause);
    }
}
