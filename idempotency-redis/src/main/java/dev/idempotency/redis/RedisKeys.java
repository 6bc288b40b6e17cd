package dev.idempotency.redis;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * How keys are spelled in Redis: the prefix, the control character 1, the hash tag in braces if there is one, and the bytes of the
 * key. No prefix has a control character, so that the first one ends it: stores with other prefixes have other keys, and a
 * {@link RedisWindow}, in which it is NUL, has others than any store. A key with
 * braces in it can't pass for another one's tag: with a tag, the first brace is the tag's; without one, a cluster takes
 * single keys only, and where they lie does not matter.
 */
final class RedisKeys {

    private static final char ENDS_PREFIX = 1;
    private static final int LONGEST_TAG = 255;

    private final String prefix;
    private final @Nullable Function<? super IdempotencyKey, String> hashTag;
    private final boolean cluster;

    RedisKeys(String prefix, @Nullable Function<? super IdempotencyKey, String> hashTag, boolean cluster) {
        this.prefix = prefix;
        this.hashTag = hashTag;
        this.cluster = cluster;
    }

    /**
     * The keys in Redis.
     *
     * @throws StoreException if they can't be held together on a cluster
     */
    List<byte[]> of(List<IdempotencyKey> keys) {
        if (cluster && keys.size() > 1 && hashTag == null) {
            throw new StoreException(
                    "a request with " + keys.size() + " keys on a cluster needs a hash tag that they share: give the"
                            + " store one with RedisLeaseOptions.hashTag",
                    null);
        }
        List<byte[]> spelled = keys.stream().map(this::of).toList();
        if (cluster
                && spelled.stream().map(JedisClusterCRC16::getSlot).distinct().count() > 1) {
            throw new StoreException(
                    "the keys of a request have different hash tags, which on a cluster may be on different servers: "
                            + "RedisLeaseOptions.hashTag must give all keys of one request the same",
                    null);
        }
        return spelled;
    }

    byte[] of(IdempotencyKey key) {
        byte[] start = (prefix + ENDS_PREFIX + tag(key)).getBytes(StandardCharsets.UTF_8);
        byte[] rest = key.toBytes();
        byte[] spelled = new byte[start.length + rest.length];
        System.arraycopy(start, 0, spelled, 0, start.length);
        System.arraycopy(rest, 0, spelled, start.length, rest.length);
        return spelled;
    }

    private String tag(IdempotencyKey key) {
        if (hashTag == null) {
            return "";
        }
        String tag = hashTag.apply(key);
        if (tag == null || tag.isEmpty() || tag.length() > LONGEST_TAG || tag.indexOf('}') >= 0) {
            throw new StoreException(
                    "the hash tag of a key has 1 to " + LONGEST_TAG + " characters and no closing brace", null);
        }
        return '{' + tag + '}';
    }
}
