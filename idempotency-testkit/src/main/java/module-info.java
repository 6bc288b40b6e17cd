/** The store contract, as JUnit tests that the author of a store extends. */
module dev.idempotency.testkit {
    requires transitive dev.idempotency.core;
    requires transitive org.junit.jupiter.api;
    requires com.github.benmanes.caffeine;
    requires org.assertj.core;
    requires static transitive org.jspecify;

    exports dev.idempotency.testkit;
}
