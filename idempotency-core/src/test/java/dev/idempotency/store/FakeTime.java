package dev.idempotency.store;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that is turned by hand, and by pauses. It starts shortly before its numbers wrap around. */
final class FakeTime implements Waiting {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000_000);
    private Runnable duringPause = () -> {};

    @Override
    public long now() {
        return nanos.get();
    }

    @Override
    public void pause(long pause) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        nanos.addAndGet(pause);
        duringPause.run();
    }

    void advance(Duration duration) {
        nanos.addAndGet(duration.toNanos());
    }

    /** What happens while somebody pauses. */
    void duringPause(Runnable event) {
        duringPause = event;
    }
}
