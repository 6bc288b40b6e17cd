package dev.idempotency.jdbc;

/** In what state a record of the library's table is. */
public enum RecordState {
    /** Somebody holds its lease. One whose deadline is missing is in progress until its retention ends. */
    IN_PROGRESS,
    /** Its lease is over without an answer; the next request with one of its keys takes over. */
    LAPSED,
    /** It has its response. */
    COMPLETE,
    /** It has neither a response nor an owner: the action of a transactional store committed by itself. */
    UNREADABLE,
    /** Its retention is over: it counts as absent, and waits to be purged. */
    EXPIRED
}
