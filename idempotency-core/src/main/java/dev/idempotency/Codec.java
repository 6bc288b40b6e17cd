package dev.idempotency;

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
     * @param bytes what {@link #encode} returned, perhaps years ago
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
     * Texts, as UTF-8.
     *
     * @return the codec; an unpaired surrogate comes back as a question mark, as UTF-8 has no form for it
     */
    static Codec<String> utf8() {
        return of(text -> text.getBytes(StandardCharsets.UTF_8), bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    /**
     * Bytes, copied on the way in and out.
     *
     * @return the codec
     */
    static Codec<byte[]> bytes() {
        return of(byte[]::clone, byte[]::clone);
    }
}
