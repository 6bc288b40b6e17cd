/** Windows of recent keys. Start with {@link dev.idempotency.window.CaffeineWindow}. */
@NullMarked
package dev.idempotency.window;

import org.jspecify.annotations.NullMarked;
