package dev.idempotency.examples.simulation;

/**
 * What came of one mode.
 *
 * @param mode which
 * @param copies that arrived
 * @param rows in the database at the end
 * @param repeats rows whose meaning Ben had seen before
 * @param swallowed meanings that arrived, and that no row has
 * @param caughtInWindow copies recognised in memory
 * @param caughtByKey copies whose insert the unique key refused
 * @param statements that the database ran, commits and rollbacks not counted
 * @param meanings that arrived at least once
 */
record Tally(
        Mode mode,
        long copies,
        long rows,
        long repeats,
        long swallowed,
        long caughtInWindow,
        long caughtByKey,
        long statements,
        long meanings) {

    /** Repeats for each 100 meanings that arrived; 0 if none did. */
    double repeatPercent() {
        return meanings == 0 ? 0 : 100.0 * repeats / meanings;
    }
}
