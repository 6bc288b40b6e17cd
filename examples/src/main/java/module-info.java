/**
 * Programs to run: the chat simulation, the two-layer service, a service on Redis alone, one whose servers share a window in
 * Redis, and the runs that prove the stores.
 */
module dev.idempotency.examples {
    requires com.github.benmanes.caffeine;
    requires com.h2database;
    requires HdrHistogram;
    requires com.zaxxer.hikari;
    requires dev.idempotency.core;
    requires dev.idempotency.jdbc;
    requires dev.idempotency.redis;
    requires dev.idempotency.testkit;
    requires info.picocli;
    requires static org.jspecify;

    exports dev.idempotency.examples;
    exports dev.idempotency.examples.runs;
    exports dev.idempotency.examples.simulation;

    opens dev.idempotency.examples.runs to
            info.picocli;
    opens dev.idempotency.examples.simulation to
            info.picocli;
}
