package dev.idempotency.store;

import dev.idempotency.Codec;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bytes in which stores keep a response: a format version, a kind, and what the codec made. For authors of stores.
 *
 * <table>
 *   <caption>Version 1</caption>
 *   <tr><th>bytes</th><th>meaning</th></tr>
 *   <tr><td>{@code 01 00}</td><td>the response is null</td></tr>
 *   <tr><td>{@code 01 01 …}</td><td>the response, as the codec encoded it; it may be empty</td></tr>
 *   <tr><td>{@code 01 02}</td><td>the action has run, and its response could not be kept</td></tr>
 * </table>
 *
 * <p>So a record that has no payload at all is one that was committed without its response.
 */
public final class Payload {

    private static final byte VERSION = 1;
    private static final byte NULL = 0;
    private static final byte VALUE = 1;
    private static final byte UNAVAILABLE = 2;

    private Payload() {}

    /**
     * Turns a response into a payload.
     *
     * @param codec how
     * @param response the response, or null
     * @param <R> the response
     * @return the payload
     * @throws StoreException if the codec can't encode it
     */
    public static <R> byte[] encode(Codec<R> codec, @Nullable R response) {
        if (response == null) {
            return new byte[] {VERSION, NULL};
        }
        byte[] encoded;
        try {
            encoded = codec.encode(response);
        } catch (RuntimeException e) {
            throw new StoreException("the codec could not encode the response; nothing was kept of it", e);
        }
        if (encoded == null) {
            throw new StoreException("the codec encoded a response as null, which no codec may", null);
        }
        byte[] payload = new byte[encoded.length + 2];
        payload[0] = VERSION;
        payload[1] = VALUE;
        System.arraycopy(encoded, 0, payload, 2, encoded.length);
        return payload;
    }

    /**
     * The payload of a record whose action has run and whose response could not be kept.
     *
     * @return the mark
     */
    public static byte[] unavailable() {
        return new byte[] {VERSION, UNAVAILABLE};
    }

    /**
     * Turns a payload into the response.
     *
     * @param codec how
     * @param payload what the store has, or null if it has none
     * @param <R> the response
     * @return the response, which may be null
     * @throws UnreadableRecordException if there is no payload, or it can't be understood
     * @throws ResponseUnavailableException if it is the mark of {@link #unavailable()}
     */
    @SuppressWarnings("NullAway") // The null of a response that was null; R is what its user says may be null or not.
    public static <R> R decode(Codec<R> codec, byte @Nullable [] payload) {
        if (payload == null) {
            throw new UnreadableRecordException(
                    "the record is committed and has no response: its action ended the transaction by itself", null);
        }
        if (payload.length < 2 || payload[0] != VERSION || payload[1] < NULL || payload[1] > UNAVAILABLE) {
            throw new UnreadableRecordException(
                    "the record's response is in no format that this release knows: it has " + payload.length + " bytes"
                            + (payload.length == 0 ? "" : " and format version " + payload[0]),
                    null);
        }
        if (payload[1] == UNAVAILABLE) {
            throw new ResponseUnavailableException(
                    "the action has run and will not run again, and its response could not be kept", null);
        }
        if (payload[1] == NULL) {
            return null;
        }
        R response;
        try {
            response = codec.decode(Arrays.copyOfRange(payload, 2, payload.length));
        } catch (RuntimeException e) {
            throw new UnreadableRecordException("the codec could not decode the record's response", e);
        }
        if (response == null) {
            throw new UnreadableRecordException("the codec decoded a response as null, which no codec may", null);
        }
        return response;
    }
}
