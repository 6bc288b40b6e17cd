package dev.idempotency.examples.runs;

import java.time.Duration;

/**
 * What an action does: it takes its time, writes this down, and returns the response.
 *
 * @param number of the meaning; there must never be two effects of one number
 * @param response what the sender is to be told
 * @param takes how long the action takes before that
 */
record Effect(long number, String response, Duration takes) {

    void takeTime() {
        if (!takes.isZero()) {
            try {
                Thread.sleep(takes.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted in the action", e);
            }
        }
    }
}
