/** Programs to run: the chat simulation, the two-layer service and a service on Redis alone. */
module dev.idempotency.examples {
    requires com.github.benmanes.caffeine;
    requires com.h2database;
    requires dev.idempotency.core;
    requires dev.idempotency.jdbc;
    requires dev.idempotency.redis;
    requires info.picocli;
    requires static org.jspecify;

    exports dev.idempotency.examples;
    exports dev.idempotency.examples.simulation;

    opens dev.idempotency.examples.simulation to
            info.picocli;
}
