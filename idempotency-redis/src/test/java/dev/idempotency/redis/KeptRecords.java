package dev.idempotency.redis;

import dev.idempotency.IdempotencyKey;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.ScanResult;

/** Records under a prefix of their own, made older by hand: no clock is turned. */
final class KeptRecords {

    static final int LEASE = 34;
    static final int ENDS = 26;
    private static final int IDENTITY = 42;
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    final UnifiedJedis client;
    final String prefix = "test" + PREFIXES.incrementAndGet() + ":";
    /** All keys on one server of a cluster, so that requests may have several. */
    final RedisLeaseOptions options =
            RedisLeaseOptions.defaults().prefix(prefix).hashTag(key -> prefix);

    KeptRecords(UnifiedJedis client) {
        this.client = client;
    }

    RedisLeases leases() {
        return new RedisLeases(new RedisScripts(client), keys(), Confirmation.NONE, List.of());
    }

    RedisKeys keys() {
        return new RedisKeys(options.prefix(), options.hashTag(), true);
    }

    byte[] spelled(IdempotencyKey key) {
        return keys().of(key);
    }

    /** Every name. */
    List<byte[]> all() {
        List<byte[]> found = new ArrayList<>();
        byte[] cursor = ScanParams.SCAN_POINTER_START_BINARY;
        ScanParams matching =
                new ScanParams().match(prefix + "\u0001{" + prefix + "}*").count(1000);
        do {
            ScanResult<byte[]> page = client.scan(cursor, matching);
            found.addAll(page.getResult());
            cursor = page.getCursorAsBytes();
        } while (!Arrays.equals(cursor, ScanParams.SCAN_POINTER_START_BINARY));
        return found;
    }

    /** Changes the record that holds a key, under all its names. Their expiry in Redis stays: the scripts have to look. */
    void change(IdempotencyKey key, Consumer<ByteBuffer> how) {
        byte[] record = client.get(spelled(key));
        for (byte[] name : all()) {
            byte[] value = client.get(name);
            if (value != null && value.length > IDENTITY + 16 && identity(value).equals(identity(record))) {
                how.accept(ByteBuffer.wrap(value));
                client.set(name, value, SetParams.setParams().keepTtl());
            }
        }
    }

    void age(IdempotencyKey key, Duration by) {
        change(key, record -> older(record, by));
    }

    static void older(ByteBuffer record, Duration by) {
        long micros = by.toNanos() / 1_000;
        record.putLong(LEASE, Math.max(1, record.getLong(LEASE) - micros));
        record.putLong(ENDS, record.getLong(ENDS) - micros);
    }

    void lapse(IdempotencyKey key) {
        change(key, record -> record.putLong(LEASE, 1));
    }

    /** Lets time pass for all records. */
    void pass(Duration by) {
        for (byte[] name : all()) {
            byte[] value = client.get(name);
            if (value != null && value.length > IDENTITY) {
                older(ByteBuffer.wrap(value), by);
                client.set(name, value, SetParams.setParams().keepTtl());
            }
        }
    }

    private static ByteBuffer identity(byte[] record) {
        return ByteBuffer.wrap(record, IDENTITY, 16);
    }
}
