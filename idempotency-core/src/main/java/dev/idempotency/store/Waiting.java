package dev.idempotency.store;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** How time passes for callers: a monotonic clock, and pauses that grow and are jittered. */
interface Waiting {

    /** Nanoseconds since an arbitrary moment, compared by difference. */
    long now();

    /** Lets time pass. */
    void pause(long nanos) throws InterruptedException;

    /** Real pauses, counted by this clock. */
    static Waiting by(LongSupplier nanoClock) {
        return new Waiting() {
            @Override
            public long now() {
                return nanoClock.getAsLong();
            }

            @Override
            public void pause(long nanos) throws InterruptedException {
                TimeUnit.NANOSECONDS.sleep(nanos);
            }
        };
    }

    /** The pause after a number of looks: 2 ms at first, doubled each time up to 512 ms, and shortened by up to a half. */
    static long growing(int looks) {
        long full = TimeUnit.MILLISECONDS.toNanos(2) << Math.min(looks, 8);
        return ThreadLocalRandom.current().nextLong(full / 2, full + 1);
    }
}
