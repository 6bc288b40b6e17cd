/** Tests of the lease protocol and of what stores are made of. */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
