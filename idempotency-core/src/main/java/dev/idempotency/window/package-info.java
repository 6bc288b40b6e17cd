/**
 * Windows of recent keys. Start with {@link dev.idempotency.window.CaffeineWindow}; {@link
 * dev.idempotency.window.CompactWindow} is for millions of keys.
 */
@NullMarked
package dev.idempotency.window;

import org.jspecify.annotations.NullMarked;
