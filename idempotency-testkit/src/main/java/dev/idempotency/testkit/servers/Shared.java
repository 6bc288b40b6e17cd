package dev.idempotency.testkit.servers;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A server for all tests of this JVM: started by the first that asks, or failed once and for all. */
final class Shared<S extends TestServer> {

    private final Supplier<S> start;
    private @Nullable S server;
    private @Nullable NotStarted failure;

    Shared(Supplier<S> start) {
        this.start = start;
    }

    synchronized S get() {
        if (failure != null) {
            throw failure;
        }
        if (server == null) {
            try {
                server = start.get();
            } catch (NotStarted e) {
                failure = e;
                throw e;
            }
        }
        return server;
    }
}
