package dev.idempotency.store;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * How a store leases: {@code LeaseOptions.defaults().lease(Duration.ofMinutes(2))}.
 *
 * <p>Lease and retention are two durations: the lease says how soon a dead holder's work is taken over, the retention
 * how long a response is known. Immutable: each method with a parameter returns another one.
 */
public final class LeaseOptions {

    /** The shortest lease and the shortest retention. */
    public static final Duration SHORTEST = Duration.ofMillis(1);

    /** The longest of all durations here, 36,500 days: within every store's clock. */
    public static final Duration LONGEST = Duration.ofDays(36_500);

    private static final LeaseOptions DEFAULTS = new LeaseOptions(
            Duration.ofSeconds(30), Duration.ofHours(24), Duration.ZERO, (failure, started) -> !started, null);

    private final Duration lease;
    private final Duration retention;
    private final Duration waitAtMost;
    private final BiPredicate<? super Throwable, ? super Boolean> releaseIf;
    private final @Nullable ScheduledExecutorService renewer;

    private LeaseOptions(
            Duration lease,
            Duration retention,
            Duration waitAtMost,
            BiPredicate<? super Throwable, ? super Boolean> releaseIf,
            @Nullable ScheduledExecutorService renewer) {
        this.lease = lease;
        this.retention = retention;
        this.waitAtMost = waitAtMost;
        this.releaseIf = releaseIf;
        this.renewer = renewer;
    }

    /**
     * A lease of 30 seconds, a retention of 24 hours, no waiting, no renewal, and after a failure the key is released
     * unless the effect has started.
     *
     * @return the defaults
     */
    public static LeaseOptions defaults() {
        return DEFAULTS;
    }

    /**
     * How long a holder has the key before somebody else may take over. Longer than the action ever takes, or with {@link
     * #renewedBy renewal}.
     *
     * @param duration from one millisecond to the retention
     * @return other options
     * @throws IllegalArgumentException if it is shorter than {@link #SHORTEST} or longer than {@link #LONGEST}. That it is
     *     not longer than the retention is checked when a store is made
     */
    public LeaseOptions lease(Duration duration) {
        check("lease", duration, SHORTEST);
        return new LeaseOptions(duration, retention, waitAtMost, releaseIf, renewer);
    }

    /**
     * How long a record is kept: from its completion, and if it is never completed, from its claim.
     *
     * @param duration from the lease to {@link #LONGEST}; longer than any sender goes on resending
     * @return other options
     * @throws IllegalArgumentException if it is shorter than {@link #SHORTEST} or longer than {@link #LONGEST}
     */
    public LeaseOptions retention(Duration duration) {
        check("retention", duration, SHORTEST);
        return new LeaseOptions(lease, duration, waitAtMost, releaseIf, renewer);
    }

    /**
     * How long a call waits for the holder of its key before it is refused as in progress.
     *
     * @param duration zero for being refused at once
     * @return other options
     * @throws IllegalArgumentException if it is negative or longer than {@link #LONGEST}
     */
    public LeaseOptions waitAtMost(Duration duration) {
        check("time to wait", duration, Duration.ZERO);
        return new LeaseOptions(lease, retention, duration, releaseIf, renewer);
    }

    /**
     * Whether the key is released at once when the action has failed, and otherwise stays taken until the lease ends.
     *
     * @param rule is given what the action threw, and whether it had called {@link Lease#effectStarts()}; true to release.
     *     A rule that throws does not release
     * @return other options
     */
    public LeaseOptions releaseIf(BiPredicate<? super Throwable, ? super Boolean> rule) {
        return new LeaseOptions(lease, retention, waitAtMost, Objects.requireNonNull(rule, "rule"), renewer);
    }

    /**
     * Renews each lease for as long as its action runs, every third of the lease. An action that hangs then holds its key
     * until the process ends. A renewal that fails shows in {@link Lease#remaining()}.
     *
     * @param scheduler where renewals run, each of them one question to the store; the caller's to shut
     *     down. A {@code ScheduledThreadPoolExecutor} should remove what is cancelled, since each call cancels one
     * @return other options
     */
    public LeaseOptions renewedBy(ScheduledExecutorService scheduler) {
        return new LeaseOptions(
                lease, retention, waitAtMost, releaseIf, Objects.requireNonNull(scheduler, "scheduler"));
    }

    /**
     * How long a holder has the key.
     *
     * @return at least {@link #SHORTEST}
     */
    public Duration lease() {
        return lease;
    }

    /**
     * How long a record is kept.
     *
     * @return at least {@link #SHORTEST}
     */
    public Duration retention() {
        return retention;
    }

    /**
     * How long a call waits.
     *
     * @return zero or more
     */
    public Duration waitAtMost() {
        return waitAtMost;
    }

    BiPredicate<? super Throwable, ? super Boolean> releaseIf() {
        return releaseIf;
    }

    @Nullable
    ScheduledExecutorService renewer() {
        return renewer;
    }

    /** What only the whole can be checked for: the order of the setters is free. */
    LeaseOptions checked() {
        if (lease.compareTo(retention) > 0) {
            throw new IllegalArgumentException("the lease of " + lease + " is longer than the retention of " + retention
                    + "; a record must outlast its lease, so lengthen the retention");
        }
        return this;
    }

    static void check(String what, Duration duration, Duration shortest) {
        Objects.requireNonNull(duration, what);
        if (duration.compareTo(shortest) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "the " + what + " is from " + shortest + " to " + LONGEST + ", not " + duration);
        }
    }
}
