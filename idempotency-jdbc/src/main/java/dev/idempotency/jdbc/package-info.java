/**
 * Stores in a database: the unique key on your own table, or a table of the library. Start with {@link
 * dev.idempotency.jdbc.JdbcStores}.
 */
@NullMarked
package dev.idempotency.jdbc;

import org.jspecify.annotations.NullMarked;
