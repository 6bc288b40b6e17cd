package dev.idempotency.benchmarks.load;

/** How a service calls the library. */
enum Mode {
    /** A call and a transaction for each message, by 8 threads. */
    SINGLE(8, 1),
    /** A call for each message, whose action is one statement in autocommit mode, by 8 threads. */
    SINGLE_STATEMENT(8, 1),
    /** A call for up to 100 messages, by 4 threads. */
    BATCH(4, 100);

    final int workers;
    final int most;

    Mode(int workers, int most) {
        this.workers = workers;
        this.most = most;
    }
}
