/**
 * What windows cost: time, memory, pauses. Run from the top folder, after {@code mvn -q -B package -DskipTests -pl
 * benchmarks -am}; results go to {@code benchmarks/results}.
 *
 * <ul>
 *   <li>{@link dev.idempotency.benchmarks.window.WindowSpeed}: time and allocation of each operation,
 *   <li>{@link dev.idempotency.benchmarks.window.WindowMemory}: bytes an ID,
 *   <li>{@link dev.idempotency.benchmarks.window.WindowPauses}: pauses while a full window turns over.
 * </ul>
 */
@NullMarked
package dev.idempotency.benchmarks.window;

import org.jspecify.annotations.NullMarked;
