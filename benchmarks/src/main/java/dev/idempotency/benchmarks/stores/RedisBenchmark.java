package dev.idempotency.benchmarks.stores;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.redis.RedisStores;
import dev.idempotency.store.Lease;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import redis.clients.jedis.UnifiedJedis;

/** Leases in Redis; the same scripts without the library; and the plainest ones by hand that claim and complete. Run by {@link RedisSpeed}. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class RedisBenchmark {

    /** What all benchmarks of a run work on: JMH makes this class, and so can't be told. */
    static volatile @Nullable Payments current;

    /** A service whose effects lie elsewhere, with and without the library. */
    static final class Payments {

        private static final String CLAIM =
                "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end return redis.call('GET', KEYS[1])";
        private static final String COMPLETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then"
                + " redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end return 0";
        private static final byte[] LEASE = ascii("30000");
        private static final byte[] RETENTION = ascii("86400000");
        private static final byte[] OWN_LEASE = ascii("30000000");
        private static final byte[] OWN_RETENTION = ascii("86400000000");

        private final UnifiedJedis client;
        private final Idempotency<Lease, String> sends;
        private final byte[] claim;
        private final byte[] complete;
        private final byte[] ownClaim;
        private final byte[] ownComplete;

        Payments(UnifiedJedis client) {
            this.client = client;
            sends = Idempotency.with(RedisStores.leased(client, Codec.utf8())).build();
            claim = ascii(client.scriptLoad(CLAIM));
            complete = ascii(client.scriptLoad(COMPLETE));
            ownClaim = ascii(client.scriptLoad(text("format.lua", "claim-one.lua", "record.lua", "claim.lua")));
            ownComplete =
                    ascii(client.scriptLoad(text("format.lua", "complete-one.lua", "record.lua", "complete.lua")));
            for (int i = 0; i < Message.STORED; i++) {
                Message message = Message.stored(i);
                execute(message);
                firstByHand(message);
            }
        }

        Outcome<String> execute(Message message) {
            return sends.execute(message.request(), lease -> message.response());
        }

        @Nullable
        Object claimByHand(Message message, byte[] owner) {
            return client.evalsha(claim, List.of(key(message)), List.of(owner, LEASE));
        }

        String firstByHand(Message message) {
            byte[] owner = ascii(message.id());
            if (claimByHand(message, owner) != null) {
                throw new IllegalStateException("taken");
            }
            client.evalsha(
                    complete, List.of(key(message)), List.of(owner, ascii("\0" + message.response()), RETENTION));
            return message.response();
        }

        /** The library's own script, on the library's own keys, with what the library sends along. */
        List<?> claimByOwnScript(Message message, byte[] owner) {
            return (List<?>) client.evalsha(
                    ownClaim, List.of(ownKey(message)), List.of(owner, OWN_LEASE, OWN_RETENTION, new byte[0]));
        }

        String firstByOwnScripts(Message message) {
            byte[] owner = owner();
            List<?> granted = claimByOwnScript(message, owner);
            if (!granted.get(0).equals(0L)) {
                throw new IllegalStateException("taken");
            }
            byte[] holder = ByteBuffer.allocate(24)
                    .putLong((Long) granted.get(1))
                    .put(owner)
                    .array();
            byte[] payload = ascii("\1\1" + message.response());
            Object complete =
                    client.evalsha(ownComplete, List.of(ownKey(message)), List.of(holder, payload, OWN_RETENTION));
            if (!complete.equals(1L)) {
                throw new IllegalStateException("not completed");
            }
            return message.response();
        }

        private static byte[] owner() {
            UUID owner = UUID.randomUUID();
            return ByteBuffer.allocate(16)
                    .putLong(owner.getMostSignificantBits())
                    .putLong(owner.getLeastSignificantBits())
                    .array();
        }

        private static byte[] ownKey(Message message) {
            return ascii("idempotency:\u0001im\0" + message.sender() + '\0' + message.id());
        }

        private static String text(String... files) {
            StringBuilder text = new StringBuilder();
            for (String file : files) {
                try (InputStream in = RedisStores.class.getResourceAsStream(file)) {
                    text.append(new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return text.toString();
        }

        private static byte[] key(Message message) {
            return ascii("hand:im:" + message.sender() + ":" + message.id());
        }

        private static byte[] ascii(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
    }

    private static Payments payments() {
        Payments payments = current;
        if (payments == null) {
            throw new IllegalStateException("run it by RedisSpeed");
        }
        return payments;
    }

    /** First: a claim and a completion. */
    @Benchmark
    public Outcome<String> redisFirst() {
        Outcome<String> outcome = payments().execute(Message.fresh());
        if (!(outcome instanceof Executed)) {
            throw new IllegalStateException("not executed: " + outcome);
        }
        return outcome;
    }

    /** First, by hand: two scripts by their digests. */
    @Benchmark
    public String byHandRedisFirst() {
        return payments().firstByHand(Message.fresh());
    }

    /** Repeat: a claim that finds the response. */
    @Benchmark
    public Outcome<String> redisRepeat() {
        Outcome<String> outcome = payments().execute(Message.repeated());
        if (outcome instanceof Executed) {
            throw new IllegalStateException("executed: " + outcome);
        }
        return outcome;
    }

    /** Repeat, by hand: one script by its digest. */
    @Benchmark
    public Object byHandRedisRepeat() {
        Message message = Message.repeated();
        Object found = payments().claimByHand(message, Payments.ascii(message.id()));
        if (found == null) {
            throw new IllegalStateException("not found");
        }
        return found;
    }

    /** First, by hand: the library's own two scripts by their digests. */
    @Benchmark
    public String evalshaRedisFirst() {
        return payments().firstByOwnScripts(Message.fresh());
    }

    /** Repeat, by hand: the library's own script by its digest. */
    @Benchmark
    public Object evalshaRedisRepeat() {
        List<?> found = payments().claimByOwnScript(Message.repeated(), Payments.owner());
        if (!found.get(0).equals(1L)) {
            throw new IllegalStateException("not found");
        }
        return found;
    }
}
