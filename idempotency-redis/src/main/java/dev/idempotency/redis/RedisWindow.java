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
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * A window in Redis that processes share, in front of a database. Best behind one in the memory of each process: {@code
 * TieredWindow.of(CaffeineWindow.lasting(…), RedisWindow.lasting(Duration.ofMinutes(5), client, codec))}.
 *
 * <ol>
 *   <li>A look is one round trip, for the value and how long it stays, and for many keys if they are asked for together.
 *       Nobody waits for it longer than {@link Spec#answersWithin agreed}, whatever it is that takes its time: that is a
 *       failure, of which the listener hears, and the database decides.
 *   <li>What was committed is queued, and written soon after, with an expiry that counts from when it was queued: many
 *       in one round trip, while nobody waits. If Redis takes longer for that than agreed, what comes meanwhile is dropped. A
 *       write that failed is thrown by the next one, since its own caller has gone on.
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
    private static final Duration WARM_UP = Duration.ofSeconds(1);

    private final UnifiedJedis client;
    private final RedisScripts scripts;
    private final Codec<R> codec;
    private final byte[] prefix;
    private final long lasting;
    private final BoundedCalls.Kind looks;
    private final BoundedCalls.Kind written;
    private final QueuedWrites writes;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    private RedisWindow(Codec<R> codec, Spec spec) {
        this.client = spec.client;
        this.scripts = new RedisScripts(client);
        this.codec = codec;
        // The first control character ends the prefix: another prefix has other keys, and NUL is not what a store
        // takes.
        this.prefix = (spec.prefix + '\0').getBytes(StandardCharsets.US_ASCII);
        this.lasting = spec.lasting.toNanos();
        BoundedCalls calls = new BoundedCalls(spec.atOnce, spec.within, spec.rest);
        this.looks = calls.kind("looks");
        this.written = calls.kind("writes");
        this.writes = new QueuedWrites(client, scripts, calls.threads(), written, spec.within);
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
        List<?> answers = look(List.of(key));
        Held<R> held = null;
        try {
            held = answers.isEmpty() ? null : held((List<?>) answers.get(0));
        } finally {
            (held == null ? misses : hits).increment();
        }
        return held;
    }

    /**
     * {@inheritDoc} One round trip for all of them; on a cluster one for each of its servers. An entry that can't be understood is
     * null, and a later call tells of it.
     *
     * @throws RuntimeException if Redis fails or takes too long
     */
    @Override
    public List<@Nullable Held<R>> heldAll(List<IdempotencyKey> keys) {
        List<@Nullable Held<R>> found = new ArrayList<>(Collections.nCopies(keys.size(), null));
        List<?> answers = keys.isEmpty() ? List.of() : look(keys);
        int known = 0;
        for (int i = 0; i < answers.size(); i++) {
            try {
                Held<R> held = held((List<?>) answers.get(i));
                found.set(i, held);
                known += held == null ? 0 : 1;
            } catch (UnreadableRecordException e) {
                writes.tellLater(e);
            }
        }
        hits.add(known);
        misses.add(keys.size() - known);
        return found;
    }

    /** An answer for each key; or none at all, if Redis is left alone. */
    private List<?> look(List<IdempotencyKey> keys) {
        if (written.failing()) {
            writes.tellFailure();
            return List.of();
        }
        List<byte[]> spelled = keys.stream().map(this::spelled).toList();
        return looks.call(() -> ask(spelled)).orElse(List.of());
    }

    private List<?> ask(List<byte[]> spelled) {
        if (!(client instanceof RedisClusterClient)) {
            return (List<?>) scripts.run(LOOK, spelled, List.of());
        }
        // Their slots differ.
        List<Object> found = new ArrayList<>();
        scripts.runEach(LOOK, spelled).forEach(answer -> found.add(((List<?>) answer).get(0)));
        return found;
    }

    private @Nullable Held<R> held(List<?> answer) {
        return answer.isEmpty() ? null : held((Long) answer.get(0), WindowValue.of((byte[]) answer.get(1)));
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

    /** As {@link #putAll}. */
    @Override
    public void put(IdempotencyKey key, Original<R> original, long deadline) {
        putAll(List.of(key), original, deadline);
    }

    /**
     * {@inheritDoc} It is kept soon after, and nobody waits for that. Nothing is kept while Redis is left alone.
     *
     * @throws RuntimeException if it is not kept, since Redis is too slow; or if Redis failed to keep an earlier one
     */
    @Override
    public void putAll(List<IdempotencyKey> keys, Original<R> original, long deadline) {
        long now = now();
        long remaining = deadline - now;
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
        writes.put(keys.stream().map(this::spelled).toList(), value, now + Math.min(remaining, lasting));
    }

    /** Waits until everything that was put is written. For tests. */
    void flush() {
        while (writes.sendSome()) {
            // There may be more.
        }
    }

    /**
     * Forgets one key, in all processes that share the window. Asks Redis in any case, for as long as the client's time-outs
     * allow.
     *
     * @throws RuntimeException if Redis fails: the entry may still be there
     */
    @Override
    public void remove(IdempotencyKey key) {
        byte[] spelled = spelled(key);
        writes.forget(spelled);
        try {
            client.unlink(spelled);
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
        writes.forget(null);
        try {
            new KeysWithPrefix(client, prefix).unlink();
        } catch (RuntimeException e) {
            throw RedisFailures.translated(e);
        }
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
         * set. Services that share a Redis and not their records need another prefix each. No key is one of a {@link
         * RedisLeaseOptions#prefix store} too, whatever the prefixes.
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
