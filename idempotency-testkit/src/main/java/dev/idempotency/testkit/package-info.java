/**
 * The store contract, as JUnit tests that the author of a store extends. Start with {@link
 * dev.idempotency.testkit.StoreFixture}.
 */
@NullMarked
package dev.idempotency.testkit;

import org.jspecify.annotations.NullMarked;
