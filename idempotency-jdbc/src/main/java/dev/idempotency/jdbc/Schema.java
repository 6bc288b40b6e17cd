package dev.idempotency.jdbc;

/** What to do about the library's table when a store is made. */
public enum Schema {
    /** Create the table if it is not there, then validate it. */
    CREATE,
    /** Check that the table has the columns, the unique key and the indexes that it must have, and refuse to start if not. */
    VALIDATE,
    /** Nothing: the table is taken to be right. */
    NONE
}
