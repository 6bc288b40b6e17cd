@NullMarked
package dev.idempotency.redis;

import org.jspecify.annotations.NullMarked;
