/**
 * What stores cost beside the same work by hand: first messages, repeats, batches, on servers that are started for it.
 * {@link dev.idempotency.benchmarks.stores.StoreSpeed} runs them.
 */
@NullMarked
package dev.idempotency.benchmarks.stores;

import org.jspecify.annotations.NullMarked;
