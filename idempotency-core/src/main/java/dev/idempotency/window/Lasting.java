package dev.idempotency.window;

import java.time.Duration;
import java.util.Objects;

/** What every window's spec refuses. */
final class Lasting {

    /** Half the range of a clock in nanoseconds, as values of it are compared by their difference. */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE >> 1);

    private Lasting() {}

    static Duration checked(Duration duration) {
        Objects.requireNonNull(duration, "duration");
        if (duration.isZero() || duration.isNegative() || duration.compareTo(LONGEST) >= 0) {
            throw new IllegalArgumentException("a window lasts longer than zero and shorter than " + LONGEST + ", not "
                    + duration + "; 32 seconds outlast a sender that gives up after 31");
        }
        return duration;
    }

    static long atLeastOne(String what, long number) {
        if (number < 1) {
            throw new IllegalArgumentException("a window holds at least 1 of " + what + ", not " + number);
        }
        return number;
    }
}
