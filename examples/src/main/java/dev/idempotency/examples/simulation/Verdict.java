package dev.idempotency.examples.simulation;

/** What a receiver made of a copy. It acknowledges it in each case. */
enum Verdict {
    /** A row, which Ben sees. */
    STORED,
    /** Recognised in memory: no database was asked. */
    CAUGHT_IN_WINDOW,
    /** The unique key refused the insert. */
    CAUGHT_BY_KEY
}
