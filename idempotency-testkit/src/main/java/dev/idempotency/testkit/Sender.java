package dev.idempotency.testkit;

import dev.idempotency.Action;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Sends requests to a store, and hears what the store publishes. Each action that succeeds leaves its effect. */
final class Sender<C> {

    private final StoreFixture<C> fixture;
    private final IdempotencyStore<C, @Nullable String> store;
    private final Told told = new Told();

    private Sender(StoreFixture<C> fixture, IdempotencyStore<C, @Nullable String> store) {
        this.fixture = fixture;
        this.store = store;
    }

    static <C> Sender<C> to(StoreFixture<C> fixture) {
        return new Sender<>(fixture, fixture.store());
    }

    static <C> Sender<C> toAnotherServer(StoreFixture<C> fixture) {
        return new Sender<>(fixture, fixture.anotherServer());
    }

    /**
     * An action that leaves the effect of the request and returns the response. The check for nulls is off since it takes
     * the result of an action for not null, whatever the type argument says.
     */
    @SuppressWarnings("NullAway")
    static <C> Action<C, @Nullable String, Exception> effect(
            StoreFixture<C> fixture, Request request, @Nullable String response) {
        return context -> {
            fixture.performs(context, request, response);
            return response;
        };
    }

    StoreFixture<C> fixture() {
        return fixture;
    }

    Told told() {
        return told;
    }

    Outcome<@Nullable String> send(IdempotencyKey key, @Nullable String response) throws Exception {
        return send(Request.of(key), response);
    }

    Outcome<@Nullable String> send(Request request, @Nullable String response) throws Exception {
        return execute(request, effect(fixture, request, response));
    }

    Outcome<@Nullable String> execute(Request request, Action<C, ? extends @Nullable String, Exception> action)
            throws Exception {
        return execute(request, action, told);
    }

    Outcome<@Nullable String> execute(
            Request request,
            Action<C, ? extends @Nullable String, Exception> action,
            Publication<@Nullable String> publication)
            throws Exception {
        return store.execute(request, action, publication);
    }

    Outcome<@Nullable String> sendUntilAnswered(Request request, @Nullable String response) throws Exception {
        return executeUntilAnswered(request, effect(fixture, request, response));
    }

    /** Sends again, as a sender does, for as long as the store says that this is worth it. */
    Outcome<@Nullable String> executeUntilAnswered(
            Request request, Action<C, ? extends @Nullable String, Exception> action) throws Exception {
        while (true) {
            try {
                Outcome<@Nullable String> outcome = execute(request, action);
                if (!(outcome instanceof InProgress)) {
                    return outcome;
                }
            } catch (RetryableException e) {
                if (Thread.currentThread().isInterrupted()) {
                    throw e;
                }
            }
            // The pause between two tries of a sender; nothing depends on its length.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            if (Thread.interrupted()) {
                throw new InterruptedException("while trying again to send " + request);
            }
        }
    }
}
