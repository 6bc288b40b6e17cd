package dev.idempotency.jdbc;

import java.time.Duration;
import java.util.Objects;

/** Checks durations that decide: they are kept as microseconds in 64 bits. */
final class Durations {

    /** Beyond any use, and far from overflow when it is added to a time. */
    private static final Duration LONGEST = Duration.ofDays(365_000);

    private Durations() {}

    static Duration positive(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.compareTo(Duration.ofMillis(1)) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    what + " is from 1 millisecond to 1,000 years, not " + duration + "; choose one in that range");
        }
        return duration;
    }
}
