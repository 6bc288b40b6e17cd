package dev.idempotency.benchmarks.load;

import dev.idempotency.benchmarks.stores.Message;
import java.time.Duration;

/**
 * Which message comes when. Messages have numbers, and come at even distances, whatever becomes of those before. One of nine
 * (11%) repeats an earlier one: most of them well within the window's time, some of them after it.
 *
 * @param rate messages a second
 * @param warmUp for how long messages come before any is counted
 * @param counted for how long they are counted after that
 * @param window how long the window remembers
 * @param lateShare how many of the repeats come after the window's time, from 0 to 1
 */
record Traffic(int rate, Duration warmUp, Duration counted, Duration window, double lateShare) {

    private static final int REPEAT_EVERY = 9;
    private static final long SECOND = 1_000_000_000L;

    long total() {
        return dueBy(warmUp.plus(counted).toNanos() - 1);
    }

    /** When a message comes, in nanoseconds after the start. */
    long due(long number) {
        return Math.multiplyExact(number, SECOND) / rate;
    }

    /** How many messages have come by then. */
    long dueBy(long nanos) {
        return Math.multiplyExact(nanos, (long) rate) / SECOND + 1;
    }

    boolean counts(long number) {
        return due(number) >= warmUp.toNanos();
    }

    /** The number of the message that this one repeats; its own if it is a first one. */
    long original(long number) {
        if (number % REPEAT_EVERY != 0) {
            return number;
        }
        boolean late = share(number) < lateShare;
        // Late ones come up to three windows' times after it, and a fifth after it at the least.
        double windows = late ? 1.2 + 2.8 * share(~number) : 0.1 + 0.5 * share(~number);
        long earlier = number - Math.max(1, (long) (windows * window.toNanos() / SECOND * rate));
        if (earlier < 0) {
            return number;
        }
        return earlier % REPEAT_EVERY == 0 ? earlier + 1 : earlier;
    }

    private static double share(long number) {
        return (Ids.mixed(number) >>> 11) * 0x1p-53;
    }

    Message message(long number) {
        long original = original(number);
        return new Message(
                "user-" + (1_000 + original % 9_000), Ids.RANDOM.id(original).toString());
    }
}
