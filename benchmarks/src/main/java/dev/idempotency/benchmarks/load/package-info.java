/**
 * A service under load, and beside much that is stored: {@link dev.idempotency.benchmarks.load.LoadRun} sends messages at a
 * rate, {@link dev.idempotency.benchmarks.load.Growth} measures what more rows cost.
 */
@NullMarked
package dev.idempotency.benchmarks.load;

import org.jspecify.annotations.NullMarked;
