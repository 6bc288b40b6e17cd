package dev.idempotency.redis;

import dev.idempotency.window.SharedWindow;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes a window for a front door, and keeps it for the test, which may want to wait for what is queued. */
final class KeptWindow implements SharedWindow.Spec {

    private final RedisWindow.Spec spec;
    private @Nullable RedisWindow<?> made;

    KeptWindow(RedisWindow.Spec spec) {
        this.spec = spec;
    }

    void flush() {
        Objects.requireNonNull(made).flush();
    }

    @Override
    public Duration lasting() {
        return spec.lasting();
    }

    @Override
    public <R extends @Nullable Object> RedisWindow<R> create() {
        RedisWindow<R> window = spec.create();
        made = window;
        return window;
    }
}
