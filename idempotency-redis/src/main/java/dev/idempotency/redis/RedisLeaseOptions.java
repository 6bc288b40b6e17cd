package dev.idempotency.redis;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How {@link RedisStores#leased} works. Immutable: each method returns another one. */
public final class RedisLeaseOptions {

    private static final int LONGEST_PREFIX = 64;
    private static final RedisLeaseOptions DEFAULTS =
            new RedisLeaseOptions(LeaseOptions.defaults(), "idempotency:", null, Confirmation.NONE, false);

    private final LeaseOptions leases;
    private final String prefix;
    private final @Nullable Function<? super IdempotencyKey, String> hashTag;
    private final Confirmation confirmation;
    private final boolean evictionAccepted;

    private RedisLeaseOptions(
            LeaseOptions leases,
            String prefix,
            @Nullable Function<? super IdempotencyKey, String> hashTag,
            Confirmation confirmation,
            boolean evictionAccepted) {
        this.leases = leases;
        this.prefix = prefix;
        this.hashTag = hashTag;
        this.confirmation = confirmation;
        this.evictionAccepted = evictionAccepted;
    }

    /**
     * {@link LeaseOptions#defaults()}, keys that begin with {@code idempotency:}, no hash tag, no waiting for replicas; an
     * evicting policy is refused.
     *
     * @return the defaults
     */
    public static RedisLeaseOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Lease, retention, waiting and renewal.
     *
     * @param options those of the leases
     * @return other options
     */
    public RedisLeaseOptions leases(LeaseOptions options) {
        Objects.requireNonNull(options, "options");
        return new RedisLeaseOptions(options, prefix, hashTag, confirmation, evictionAccepted);
    }

    /**
     * What the keys in Redis begin with; the control character 1, the hash tag if any, and {@link
     * IdempotencyKey#toBytes()} follow. Services that share a Redis and no
     * records take another prefix each.
     *
     * @param text 0 to 64 characters of ASCII, none of them a brace or a control character
     * @return other options
     * @throws IllegalArgumentException if it is anything else
     */
    public RedisLeaseOptions prefix(String text) {
        if (text.length() > LONGEST_PREFIX || text.chars().anyMatch(c -> c <= ' ' || c > '~' || c == '{' || c == '}')) {
            throw new IllegalArgumentException("the prefix has at most " + LONGEST_PREFIX
                    + " characters of printable ASCII without blanks and braces");
        }
        return new RedisLeaseOptions(leases, text, hashTag, confirmation, evictionAccepted);
    }

    /**
     * Lets requests with several keys work on a cluster: all keys of one request need the same tag, and so lie on one
     * server. {@code key -> "all"} always works and puts everything on one server; a tenant that is part of every key is
     * better. Without it a cluster takes requests with one key only, and refuses others before anything is touched. It is
     * part of the key in Redis: whoever changes it starts with no records.
     *
     * @param tag from a key to 1 to 255 characters without a closing brace; quick, and always the same for the same key
     * @return other options
     */
    public RedisLeaseOptions hashTag(Function<? super IdempotencyKey, String> tag) {
        Objects.requireNonNull(tag, "tag");
        return new RedisLeaseOptions(leases, prefix, tag, confirmation, evictionAccepted);
    }

    /**
     * Waits ({@code WAIT}) after a claim and a completion until replicas have them in memory. That makes a loss at a
     * failover less likely and does not exclude it: the replica that is promoted need not be one of those. Of this and
     * {@link #fsyncedBy} the last one called counts.
     *
     * @param atLeast how many replicas of a master, 1 to 100; 0 to wait for nobody
     * @param within 1 millisecond to 1 minute, and shorter than the client's socket time-out
     * @return other options
     * @throws IllegalArgumentException if either is out of range
     */
    public RedisLeaseOptions confirmedBy(int atLeast, Duration within) {
        return confirmed(atLeast, false, within);
    }

    /**
     * Waits ({@code WAITAOF}) after a claim and a completion until the master has them on its disk, and replicas on theirs:
     * with {@code appendfsync everysec} that is up to a second for each. Needs Redis 7.2 or newer, and {@code appendonly yes}
     * on all of them; a master that lacks either is refused when the store is made. Of this and {@link #confirmedBy} the last
     * one called counts.
     *
     * @param atLeast how many replicas besides the master, 0 to 100
     * @param within 1 millisecond to 1 minute, and shorter than the client's socket time-out
     * @return other options
     * @throws IllegalArgumentException if either is out of range
     */
    public RedisLeaseOptions fsyncedBy(int atLeast, Duration within) {
        return confirmed(atLeast, true, within);
    }

    private RedisLeaseOptions confirmed(int atLeast, boolean fsynced, Duration within) {
        if (atLeast < 0 || atLeast > 100) {
            throw new IllegalArgumentException("0 to 100 replicas can confirm, not " + atLeast);
        }
        if (within.compareTo(Duration.ofMillis(1)) < 0 || within.compareTo(Duration.ofMinutes(1)) > 0) {
            throw new IllegalArgumentException("replicas confirm within PT0.001S to PT1M, not " + within);
        }
        return new RedisLeaseOptions(
                leases, prefix, hashTag, new Confirmation(atLeast, fsynced, within), evictionAccepted);
    }

    /**
     * Accepts a Redis that removes records when its memory is full: what it removes is executed again when it is resent.
     * Warned of, instead of refused.
     *
     * @return other options
     */
    public RedisLeaseOptions acceptEviction() {
        return new RedisLeaseOptions(leases, prefix, hashTag, confirmation, true);
    }

    LeaseOptions leases() {
        return leases;
    }

    String prefix() {
        return prefix;
    }

    @Nullable
    Function<? super IdempotencyKey, String> hashTag() {
        return hashTag;
    }

    Confirmation confirmation() {
        return confirmation;
    }

    boolean evictionAccepted() {
        return evictionAccepted;
    }
}
