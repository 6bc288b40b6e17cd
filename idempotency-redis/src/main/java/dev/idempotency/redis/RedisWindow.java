package dev.idempotency.redis;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.Payload;
import dev.idempotency.window.SharedWindow;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * A window in Redis that processes share, in front of a database. Best behind one in the memory of each process: {@code
 * TieredWindow.of(CaffeineWindow.lasting(…), RedisWindow.lasting(Duration.ofMinutes(5), client, codec))}.
 *
 * <ol>
 *   <li>A look is one round trip, for the value and how long it stays. What was committed is written in one round trip too
 *       (on a cluster in one for each key), with an expiry.
 *   <li>Nobody waits for Redis longer than {@link Spec#answersWithin agreed}, whatever it is that takes its time: that is a
 *       failure, of which the listener hears, and the database decides.
 *   <li>If half of the last ten looks, or of the last ten writes, failed, Redis is left alone for {@link Spec#leftAloneFor a
 *       while}, in which calls cost nothing and nothing is reported; then one call tries. A Redis that takes no writes,
 *       being full or read-only, is not looked at either until a write succeeds. The failure with which this begins says so.
 * </ol>
 *
 * <p>Redis may lose, evict and forget what it likes, and needs no persistence. A restart or a failover may show an entry that
 * was removed before: after {@link #remove} and {@link #clear}, wait for the replicas, if there are any.
 *
 * <p>An entry says when its record ends, if that is before the window lets go of it, by the wall clock of the process that
 * wrote it: a write that reached Redis late does not prolong it. Clocks of processes that differ by some seconds make such
 * an entry end as much earlier or later.
 *
 * <p>Identities of type {@link Long}, {@link Integer}, {@link String} (up to 65,535 bytes) and {@link java.util.UUID} come
 * back as they were. Any other one equals that of the keys that were {@link #putAll put along with it}, and no other. A
 * response of more than {@value #MAX_RESPONSE_BYTES} bytes is not kept. Each hit decodes the response anew.
 *
 * <p>Safe for use by any number of threads, also virtual ones.
 *
 * @param <R> the response
 */
public final class RedisWindow<R extends @Nullable Object> implements SharedWindow<R> {

    /** The longest response that is kept, in bytes as the codec encodes it. */
    public static final int MAX_RESPONSE_BYTES = 1 << 20;

    private static final Script LOOK = Script.of("look.lua");
    private static final Script KEEP = Script.of("keep.lua");
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final String SCANNED_AT_ONCE = "1000";

    private final UnifiedJedis client;
    private final RedisScripts scripts;
    private final Codec<R> codec;
    private final byte[] prefix;
    private final long lasting;
    private final BoundedCalls.Kind looks;
    private final BoundedCalls.Kind writes;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    private RedisWindow(Codec<R> codec, Spec spec) {
        this.client = spec.client;
        this.scripts = new RedisScripts(client);
        this.codec = codec;
        // NUL is in no prefix and begins no key, so that no two prefixes share a key.
        this.prefix = (spec.prefix + '\0').getBytes(StandardCharsets.US_ASCII);
        this.lasting = spec.lasting.toNanos();
        BoundedCalls calls = new BoundedCalls(spec.atOnce, spec.within, spec.rest);
        this.looks = calls.kind("looks");
        this.writes = calls.kind("writes");
        calls.warmUp(() -> scripts.run(LOOK, List.of(prefix), List.of()), WARM_UP);
    }

    /**
     * A window whose entries stay for a time.
     *
     * @param duration how long: at least a millisecond
     * @param client where to; the caller closes it. It needs time-outs, which bound how long a thread of the window is
     *     busy with a Redis that does not answer; callers are not held up by that
     * @param codec how responses are turned into bytes and back; of the type of response that the window is made for
     * @return how to make it
     * @throws IllegalArgumentException if the duration is shorter than a millisecond, or longer than 146 years
     */
    public static Spec lasting(Duration duration, UnifiedJedis client, Codec<?> codec) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(codec, "codec");
        Duration longest = Duration.ofNanos(Long.MAX_VALUE >> 1);
        if (duration.toMillis() < 1 || duration.compareTo(longest) >= 0) {
            throw new IllegalArgumentException("a window in Redis lasts from PT0.001S to less than " + longest
                    + ", not " + duration + "; 32 seconds outlast a sender that gives up after 31");
        }
        return new Spec(duration, client, codec, "idempotency-window:", Duration.ofMillis(5), Duration.ofSeconds(1), 8);
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    /**
     * {@inheritDoc} Null also while Redis is left alone.
     *
     * @throws RuntimeException if Redis fails or takes too long
     * @throws UnreadableRecordException if the entry can't be understood
     */
    @Override
    public @Nullable Held<R> held(IdempotencyKey key) {
        if (writes.failing()) {
            misses.increment();
            return null;
        }
        Held<R> held = null;
        try {
            Optional<Object> answer = looks.call(() -> scripts.run(LOOK, List.of(spelled(key)), List.of()));
            if (answer.isPresent() && ((List<?>) answer.get()).size() == 2) {
                List<?> found = (List<?>) answer.get();
                held = held((Long) found.get(0), WindowValue.of((byte[]) found.get(1)));
            }
        } finally {
            (held == null ? misses : hits).increment();
        }
        return held;
    }

    private @Nullable Held<R> held(long millis, WindowValue value) {
        // Redis tells whole milliseconds, of which the last may have begun.
        long remaining = millis - 1;
        if (value.ends() != 0) {
            remaining = Math.min(remaining, value.ends() - System.currentTimeMillis());
        }
        if (remaining <= 0) {
            return null;
        }
        return new Held<>(
                new Original<>(value.identity(), Payload.decode(codec, value.payload()), value.fingerprint()),
                Duration.ofMillis(remaining));
    }

    /**
     * {@inheritDoc} Nothing is kept while Redis is left alone.
     *
     * @throws RuntimeException if Redis fails or takes too long; it may be kept all the same
     */
    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        putAll(List.of(key), original, deadline);
    }

    /**
     * {@inheritDoc} Nothing is kept while Redis is left alone.
     *
     * @throws RuntimeException if Redis fails or takes too long; it may be kept all the same, or under some of the keys
     */
    @Override
    public void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
        long remaining = deadline - now();
        long millis = Math.min(remaining, lasting) / 1_000_000;
        if (millis < 1) {
            return;
        }
        byte[] payload = Payload.encode(codec, original.response());
        if (payload.length > MAX_RESPONSE_BYTES) {
            return;
        }
        long ends = remaining < lasting ? System.currentTimeMillis() + millis : 0;
        byte[] value = new WindowValue(original.identity(), original.fingerprint(), ends, payload).toBytes();
        List<byte[]> arguments = List.of(value, Long.toString(millis).getBytes(StandardCharsets.US_ASCII));
        List<byte[]> spelled = keys.stream().map(this::spelled).toList();
        writes.call(() -> keep(spelled, arguments));
    }

    private boolean keep(List<byte[]> spelled, List<byte[]> arguments) {
        if (client instanceof RedisClusterClient) {
            // Their slots differ, and that is no harm: each key is an entry of its own.
            spelled.forEach(key -> scripts.run(KEEP, List.of(key), arguments));
        } else {
            scripts.run(KEEP, spelled, arguments);
        }
        return true;
    }

    /**
     * Forgets one key, in all processes that share the window. Asks Redis in any case, for as long as the client's time-outs
     * allow.
     *
     * @throws RuntimeException if Redis fails: the entry may still be there
     */
    @Override
    public void remove(IdempotencyKey key) {
        try {
            client.unlink(spelled(key));
        } catch (RuntimeException e) {
            throw RedisFailures.translated(e);
        }
    }

    /**
     * Forgets everything that is there at this moment, for all processes that share the window, without blocking Redis: it
     * goes through all of its keys, a thousand at a time. What other processes put meanwhile may stay: after a failover of the
     * database, clear when all of them use the new one.
     *
     * @throws RuntimeException if Redis fails: a part may still be there
     */
    @Override
    public void clear() {
        try {
            if (client instanceof RedisClusterClient cluster) {
                for (ConnectionPool pool : cluster.getClusterNodes().values()) {
                    try (Connection node = pool.getResource()) {
                        clear(node::executeCommand);
                    }
                }
            } else {
                clear(client::executeCommand);
            }
        } catch (RuntimeException e) {
            throw RedisFailures.translated(e);
        }
    }

    /** A server that is scanned. */
    @FunctionalInterface
    private interface Server {
        Object ask(CommandArguments command);
    }

    private void clear(Server server) {
        byte[] cursor = {'0'};
        do {
            List<?> answer = (List<?>) server.ask(new CommandArguments(Protocol.Command.SCAN)
                    .add(cursor)
                    .add("MATCH")
                    .add(pattern())
                    .add("COUNT")
                    .add(SCANNED_AT_ONCE));
            cursor = (byte[]) answer.get(0);
            List<byte[]> found = new ArrayList<>();
            ((List<?>) answer.get(1)).forEach(key -> found.add((byte[]) key));
            if (!found.isEmpty()) {
                client.unlink(found.toArray(new byte[0][]));
            }
        } while (cursor.length != 1 || cursor[0] != '0');
    }

    /** The prefix, with what is special in patterns quoted, and anything. */
    private byte[] pattern() {
        String text = new String(prefix, StandardCharsets.US_ASCII);
        return (text.replaceAll("[\\\\*?\\[\\]^]", "\\\\$0") + '*').getBytes(StandardCharsets.US_ASCII);
    }

    /** What this process has looked for. What Redis holds and drops is not known here, and told as 0. */
    @Override
    public Stats stats() {
        return new Stats(hits.sum(), misses.sum(), 0, 0);
    }

    private byte[] spelled(IdempotencyKey key) {
        byte[] rest = key.toBytes();
        byte[] spelled = new byte[prefix.length + rest.length];
        System.arraycopy(prefix, 0, spelled, 0, prefix.length);
        System.arraycopy(rest, 0, spelled, prefix.length, rest.length);
        return spelled;
    }

    /** How to make a {@link RedisWindow}. Immutable: each method returns another one. */
    public static final class Spec implements SharedWindow.Spec {

        private static final int LONGEST_PREFIX = 64;

        private final Duration lasting;
        private final UnifiedJedis client;
        private final Codec<?> codec;
        private final String prefix;
        private final Duration within;
        private final Duration rest;
        private final int atOnce;

        private Spec(
                Duration lasting,
                UnifiedJedis client,
                Codec<?> codec,
                String prefix,
                Duration within,
                Duration rest,
                int atOnce) {
            this.lasting = lasting;
            this.client = client;
            this.codec = codec;
            this.prefix = prefix;
            this.within = within;
            this.rest = rest;
            this.atOnce = atOnce;
        }

        /**
         * What the keys in Redis begin with: NUL and {@link IdempotencyKey#toBytes()} follow. {@code idempotency-window:} if not
         * set. Services that share a Redis and not their records need another prefix each, and it must not be one that a
         * {@link RedisLeaseOptions#prefix store} uses: {@link RedisWindow#clear()} removes all that begins with it.
         *
         * @param text 1 to 64 characters of ASCII, none of them a brace, a blank or a control character
         * @return another spec
         * @throws IllegalArgumentException if it is anything else
         */
        public Spec prefix(String text) {
            if (text.isEmpty()
                    || text.length() > LONGEST_PREFIX
                    || text.chars().anyMatch(c -> c <= ' ' || c > '~' || c == '{' || c == '}')) {
                throw new IllegalArgumentException("the prefix has 1 to " + LONGEST_PREFIX
                        + " characters of printable ASCII without blanks and braces");
            }
            return new Spec(lasting, client, codec, text, within, rest, atOnce);
        }

        /**
         * How long a call waits for Redis at the most: 5 milliseconds if not set. Longer than nearly all its answers take, and
         * shorter than a call of the database that it is to save.
         *
         * @param time 1 millisecond to 10 seconds
         * @return another spec
         * @throws IllegalArgumentException if it is out of range
         */
        public Spec answersWithin(Duration time) {
            return new Spec(
                    lasting, client, codec, prefix, inRange("answers", time, Duration.ofSeconds(10)), rest, atOnce);
        }

        /**
         * How long Redis is left alone when it fails, before one call tries again: 1 second if not set.
         *
         * @param time 1 millisecond to 1 hour
         * @return another spec
         * @throws IllegalArgumentException if it is out of range
         */
        public Spec leftAloneFor(Duration time) {
            return new Spec(
                    lasting,
                    client,
                    codec,
                    prefix,
                    within,
                    inRange("is left alone for", time, Duration.ofHours(1)),
                    atOnce);
        }

        /**
         * How many calls are made at once, each by a thread of the window; others wait for their turn. 8 if not set, as many
         * connections as Jedis keeps of its own accord.
         *
         * @param calls 1 to 1,000: as many as the client may have connections, or fewer
         * @return another spec
         * @throws IllegalArgumentException if it is out of range
         */
        public Spec callsAtOnce(int calls) {
            if (calls < 1 || calls > 1_000) {
                throw new IllegalArgumentException("1 to 1,000 calls are made at once, not " + calls);
            }
            return new Spec(lasting, client, codec, prefix, within, rest, calls);
        }

        @Override
        public Duration lasting() {
            return lasting;
        }

        /**
         * Makes a window, and asks Redis something, so that the first call finds a connection. Waits a second for that at the
         * most, and does not mind a Redis that is down.
         *
         * @param <R> the response: the one that the codec is of, which nothing checks here
         * @return a window, which holds what others have put there
         */
        @Override
        @SuppressWarnings("unchecked") // Specs know no type of response, so that one kind of spec serves all windows.
        public <R extends @Nullable Object> RedisWindow<R> create() {
            return new RedisWindow<>((Codec<R>) codec, this);
        }

        private static Duration inRange(String what, Duration time, Duration longest) {
            if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(longest) > 0) {
                throw new IllegalArgumentException("Redis " + what + " PT0.001S to " + longest + ", not " + time);
            }
            return time;
        }
    }
}
