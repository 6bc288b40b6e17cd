/**
 * Runs that prove the stores on real servers, or show where they fail: {@link dev.idempotency.examples.runs.Race}, {@link
 * dev.idempotency.examples.runs.Kills}, {@link dev.idempotency.examples.runs.Crowd} and {@link
 * dev.idempotency.examples.runs.PurgeRun}. Each prints what it counted, and exits with 1 if a promise was broken.
 */
@NullMarked
package dev.idempotency.examples.runs;

import org.jspecify.annotations.NullMarked;
