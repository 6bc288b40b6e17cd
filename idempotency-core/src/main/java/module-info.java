/**
 * Recognises a request that has been sent before and answers it as the first time.
 *
 * <p>Start with {@link dev.idempotency.Idempotency}.
 */
module dev.idempotency.core {
    requires com.github.benmanes.caffeine;
    requires static transitive org.jspecify;

    exports dev.idempotency;
    exports dev.idempotency.store;
    exports dev.idempotency.window;
}
