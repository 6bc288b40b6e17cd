package dev.idempotency.jdbc;

import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.Objects;

/** Checks durations that decide: they are kept as microseconds in 64 bits. */
final class Durations {

    private Durations() {}

    static Duration positive(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.compareTo(LeaseOptions.SHORTEST) < 0) {
            throw outOfRange(what, LeaseOptions.SHORTEST, duration);
        }
        return notNegative(what, duration);
    }

    static Duration notNegative(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.isNegative() || duration.compareTo(LeaseOptions.LONGEST) > 0) {
            throw outOfRange(what, Duration.ZERO, duration);
        }
        return duration;
    }

    private static IllegalArgumentException outOfRange(String what, Duration shortest, Duration duration) {
        return new IllegalArgumentException(what + " is from " + shortest + " to " + LeaseOptions.LONGEST
                + " (100 years), not " + duration + "; choose one in that range");
    }
}
