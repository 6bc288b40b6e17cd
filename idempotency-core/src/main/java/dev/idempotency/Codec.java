package dev.idempotency;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Function;

/**
 * Turns a response into bytes and back, for stores and windows that keep bytes.
 *
 * <p>What was encoded by an earlier release of a service must be decodable by a later one for as long as the
 * store keeps records. A codec never sees null: stores keep a null response as such. It must be safe for use by
 * any number of threads.
 *
 * @param <R> the response
 */
public interface Codec<R> {

    /**
     * Turns a response into bytes.
     *
     * @param response not null
     * @return its bytes; they are not changed afterwards
     * @throws RuntimeException if this response has no form in bytes
     */
    byte[] encode(R response);

    /**
     * Turns bytes into a response.
     *
     * @param bytes what {@link #encode} returned, perhaps years ago; a copy of the codec's own, which it may keep and change
     * @return an equal response, never null
     * @throws RuntimeException if the bytes can't be understood; the request fails then, and is not executed again
     */
    R decode(byte[] bytes);

    /**
     * A codec of two functions.
     *
     * @param encode as {@link #encode}
     * @param decode as {@link #decode}
     * @param <R> the response
     * @return the codec
     */
    static <R> Codec<R> of(Function<? super R, byte[]> encode, Function<byte[], ? extends R> decode) {
        Objects.requireNonNull(encode, "encode");
        Objects.requireNonNull(decode, "decode");
        return new Codec<>() {
            @Override
            public byte[] encode(R response) {
                return encode.apply(response);
            }

            @Override
            public R decode(byte[] bytes) {
                return decode.apply(bytes);
            }
        };
    }

    /**
     * Texts, as UTF-8. A text with an unpaired surrogate has no form in UTF-8 and is refused, and so are bytes that are no
     * UTF-8.
     *
     * @return the codec
     */
    static Codec<String> utf8() {
        return of(
                text -> {
                    try {
                        ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
                        byte[] bytes = new byte[encoded.remaining()];
                        encoded.get(bytes);
                        return bytes;
                    } catch (CharacterCodingException e) {
                        throw new IllegalArgumentException("the text has an unpaired surrogate", e);
                    }
                },
                bytes -> {
                    try {
                        return StandardCharsets.UTF_8
                                .newDecoder()
                                .decode(ByteBuffer.wrap(bytes))
                                .toString();
                    } catch (CharacterCodingException e) {
                        throw new IllegalArgumentException("the bytes are no UTF-8", e);
                    }
                });
    }

    /**
     * Bytes, copied on the way in; those to decode are the codec's own already.
     *
     * @return the codec
     */
    static Codec<byte[]> bytes() {
        return of(byte[]::clone, bytes -> bytes);
    }
}
