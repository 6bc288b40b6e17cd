/**
 * One command that runs all benchmarks, {@link dev.idempotency.benchmarks.report.Measure}, and what makes a report of the
 * files that they leave, {@link dev.idempotency.benchmarks.report.Report}.
 */
@NullMarked
package dev.idempotency.benchmarks.report;

import org.jspecify.annotations.NullMarked;
