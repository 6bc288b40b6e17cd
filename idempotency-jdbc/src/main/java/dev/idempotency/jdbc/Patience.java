package dev.idempotency.jdbc;

import dev.idempotency.RetryableException;
import java.time.Duration;

/**
 * How much longer a call waits for others outside the pool: a time in all, however often it waits. A batch with many
 * duplicates of one key that is held would else wait as many times. Not safe for use by several threads.
 */
final class Patience {

    private Duration left;

    Patience(Duration atMost) {
        this.left = atMost;
    }

    /** How to wait. */
    @FunctionalInterface
    interface Wait<T> {
        T atMost(Duration time) throws InterruptedException;
    }

    /**
     * Waits.
     *
     * @throws RetryableException if the thread is interrupted, whose flag is set then
     */
    <T> T waiting(Wait<T> wait) {
        long start = System.nanoTime();
        try {
            return wait.atMost(left);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RetryableException(
                    "interrupted while waiting, so nothing was stored by this call; call again", e);
        } finally {
            Duration passed = Duration.ofNanos(System.nanoTime() - start);
            left = passed.compareTo(left) < 0 ? left.minus(passed) : Duration.ZERO;
        }
    }
}
