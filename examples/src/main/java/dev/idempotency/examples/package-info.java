/** What a service would copy: {@link dev.idempotency.examples.TwoLayers}. */
@NullMarked
package dev.idempotency.examples;

import org.jspecify.annotations.NullMarked;
