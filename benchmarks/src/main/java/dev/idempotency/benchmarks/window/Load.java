package dev.idempotency.benchmarks.window;

import java.time.Duration;

/**
 * How many messages a second a window sees, and for how many seconds it remembers them.
 *
 * @param rate messages a second
 * @param seconds of the window
 */
record Load(int rate, int seconds) {

    /** The four sizes to plan for: 139 and 13,900 messages a second, 32 s and 5 minutes. */
    static final Load[] ALL = {new Load(139, 32), new Load(139, 300), new Load(13_900, 32), new Load(13_900, 300)};

    int ids() {
        return rate * seconds;
    }

    long nanosBetween() {
        return 1_000_000_000L / rate;
    }

    Duration lasting() {
        return Duration.ofSeconds(seconds);
    }
}
