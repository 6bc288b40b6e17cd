package dev.idempotency.redis;

import dev.idempotency.RetryableException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Calls to Redis that nobody waits for longer than agreed.
 *
 * <ol>
 *   <li>A circuit breaker is asked first. While it is open, nothing is sent and nothing is waited for; now and then one
 *       call is let through to try.
 *   <li>The call is made by one of a few threads, and its caller waits for the answer, for a while. So that while bounds all
 *       of it: looking the host up, connecting, TLS, a connection of the pool, redirections, and a reply that drips in.
 *   <li>An answer that comes too late is dropped by the thread that asked. It alone uses the connection until then, so
 *       that no late reply is taken for another command's.
 * </ol>
 */
final class BoundedCalls {

    private static final int LAST_CALLS = 10;
    private static final int FAILING_PERCENT = 50;
    private static final int WAITING = 1_024;
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final Duration within;
    private final Duration restFor;
    private final ThreadPoolExecutor threads;

    BoundedCalls(int atOnce, Duration within, Duration restFor) {
        this.within = within;
        this.restFor = restFor;
        this.threads = new ThreadPoolExecutor(
                atOnce, atOnce, 10, TimeUnit.SECONDS, new ArrayBlockingQueue<>(WAITING), task -> {
                    Thread thread = new Thread(task, "idempotency-redis-window-" + NUMBER.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        // A window is never closed: one that is forgotten leaves no threads behind.
        threads.allowCoreThreadTimeOut(true);
    }

    /** The threads themselves, for calls that nobody waits for. */
    Executor threads() {
        return threads;
    }

    /** Calls of one kind, which have a breaker of their own. */
    Kind kind(String name) {
        return new Kind(name);
    }

    /** Makes a call whose time and failure do not count, so that classes and a connection are there when they do. */
    void warmUp(Callable<?> call, Duration atMost) {
        try {
            await(call, atMost);
        } catch (Exception e) {
            // The first call that counts finds out by itself.
        }
    }

    private <T> T await(Callable<T> call, Duration atMost) throws Exception {
        FutureTask<T> task = new FutureTask<>(call);
        try {
            threads.execute(task);
            return task.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } catch (TimeoutException e) {
            throw new RetryableException("Redis did not answer within " + atMost, e);
        } catch (RejectedExecutionException e) {
            throw new RetryableException("too many calls wait for Redis", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw e;
        } finally {
            // One that has not begun never will. One that has is not interrupted: its connection is to be left in
            // order.
            task.cancel(false);
        }
    }

    final class Kind {

        private final CircuitBreaker breaker;
        private final AtomicBoolean failing = new AtomicBoolean();

        private Kind(String name) {
            breaker = CircuitBreaker.of(
                    name,
                    CircuitBreakerConfig.custom()
                            .slidingWindowSize(LAST_CALLS)
                            .minimumNumberOfCalls(LAST_CALLS / 2)
                            .failureRateThreshold(FAILING_PERCENT)
                            .permittedNumberOfCallsInHalfOpenState(1)
                            .waitDurationInOpenState(restFor)
                            .build());
        }

        /** Whether calls of this kind fail, and none has succeeded since. */
        boolean failing() {
            return breaker.getState() != CircuitBreaker.State.CLOSED;
        }

        /**
         * Asks Redis.
         *
         * @return the answer, or empty if Redis is left alone for now
         * @throws RuntimeException if it fails or takes too long; the first after which Redis is left alone says so
         */
        <T> Optional<T> call(Callable<T> call) {
            if (!permitted()) {
                return Optional.empty();
            }
            try {
                T answer = await(call, within);
                succeeded();
                return Optional.of(answer);
            } catch (InterruptedException e) {
                notMade();
                throw new RetryableException("interrupted while waiting for Redis", e);
            } catch (Exception | Error e) {
                throw failed(e);
            }
        }

        /** Whether a call may be made. If so, what has become of it is to be told: by one of the next three. */
        boolean permitted() {
            return breaker.tryAcquirePermission();
        }

        void succeeded() {
            breaker.onSuccess(0, TimeUnit.NANOSECONDS);
            failing.set(false);
        }

        void notMade() {
            breaker.releasePermission();
        }

        /** What to throw for it: the failure, or the news that Redis is left alone from now on. */
        RuntimeException failed(Throwable failure) {
            breaker.onError(0, TimeUnit.NANOSECONDS, failure);
            if (breaker.getState() == CircuitBreaker.State.OPEN && !failing.getAndSet(true)) {
                return new RetryableException(
                        "Redis fails (" + breaker.getName() + "), and is left alone but for one call in " + restFor
                                + ": " + failure.getMessage(),
                        failure);
            }
            return failure instanceof RuntimeException unchecked
                    ? unchecked
                    : new RetryableException("Redis failed: " + failure.getMessage(), failure);
        }
    }
}
