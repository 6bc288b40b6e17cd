package dev.idempotency.jdbc;

/**
 * How a database tells the time in a statement: microseconds since 1970, by a clock that does not stand still in a
 * transaction.
 *
 * @param now the time, as often as it stands in a statement; a question mark in it is this JVM's time, which is bound
 * @param runs whether the time goes on within a statement, so that two readings of it differ
 */
record Clock(String now, boolean runs) {

    /** Of an embedded database whose own clock stands still: this JVM's. */
    static final Clock BOUND = new Clock("CAST(? AS BIGINT)", false);

    boolean isBound() {
        return now.contains("?");
    }

    /** The time, the same for all rows that a statement reads or changes; two of these in a statement may still differ. */
    String once() {
        return runs ? "(SELECT " + now + ")" : now;
    }

    /** What has to stand before the VALUES of an insert in which {@link #inValues()} is used. */
    String beforeValues() {
        return runs ? "WITH clock (now) AS (SELECT " + now + ") " : "";
    }

    /** The time, the same wherever it stands in an insert of several rows. */
    String inValues() {
        return runs ? "(SELECT now FROM clock)" : now;
    }
}
