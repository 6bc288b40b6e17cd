package dev.idempotency.testkit;

import dev.idempotency.Outcome;
import dev.idempotency.Request;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call whose action has left its effect and then stands still until it is let go: at that moment its key is taken in
 * every kind of store.
 */
final class HeldCall<C> implements AutoCloseable {

    private final CountDownLatch insideOrEnded = new CountDownLatch(1);
    private final CountDownLatch letGo = new CountDownLatch(1);
    private final Crowd.Call<Outcome<@Nullable String>> call;
    private volatile @Nullable C held;
    private volatile @Nullable RuntimeException failure;

    HeldCall(Sender<C> sender, Request request, String response) throws Exception {
        call = new Crowd.Call<>("held", () -> {
            try {
                return sender.execute(request, context -> {
                    sender.fixture().performs(context, request, response);
                    held = context;
                    insideOrEnded.countDown();
                    await(letGo);
                    RuntimeException toThrow = failure;
                    if (toThrow != null) {
                        throw toThrow;
                    }
                    return response;
                });
            } finally {
                insideOrEnded.countDown();
            }
        });
        await(insideOrEnded);
        if (held == null) {
            throw new AssertionError("the action was not run, and the call returned " + call.result());
        }
    }

    /** What the store handed to the action that is held. */
    C context() {
        return Objects.requireNonNull(held);
    }

    /** Lets the action throw, and waits for the call. */
    Outcome<@Nullable String> letFail(RuntimeException thrown) throws Exception {
        failure = thrown;
        return letGo();
    }

    /** Lets the action return, and waits for the call. */
    Outcome<@Nullable String> letGo() throws Exception {
        letGo.countDown();
        return call.result();
    }

    @Override
    public void close() {
        letGo.countDown();
        call.interrupt();
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(Crowd.PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("a call that was to be held hangs");
        }
    }
}
