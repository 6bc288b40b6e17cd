/** A database that fails on the way there, or on the way back. Start with {@link dev.idempotency.testkit.faults.FaultyDataSource}. */
@NullMarked
package dev.idempotency.testkit.faults;

import org.jspecify.annotations.NullMarked;
