/**
 * Stores that lease: the lease protocol, written once over the four primitives of a {@link
 * dev.idempotency.store.LeaseBackend}, and a store for one process.
 */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
