/** Programs to run: the chat simulation and the two-layer service. */
module dev.idempotency.examples {
    requires com.github.benmanes.caffeine;
    requires com.h2database;
    requires dev.idempotency.core;
    requires dev.idempotency.jdbc;
    requires info.picocli;
    requires static org.jspecify;

    exports dev.idempotency.examples;
    exports dev.idempotency.examples.simulation;

    opens dev.idempotency.examples.simulation to
            info.picocli;
}
