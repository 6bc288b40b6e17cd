/**
 * Thousands of messages over a network that loses some, stored in a database with and without the library, to see who
 * sees a repeat and why. Start with {@link dev.idempotency.examples.simulation.Simulation}.
 *
 * <pre>
 * Network ── copies, in the order of virtual time ──► Receiver of a Mode ──► Inbox (H2)
 *                                                          └─ Verdict ──► Tally ──► Report, or TimeLine
 * </pre>
 */
@NullMarked
package dev.idempotency.examples.simulation;

import org.jspecify.annotations.NullMarked;
