package dev.idempotency.testkit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** Threads that start together. One that never ends fails the test, with the place where it is. */
final class Crowd {

    /** No test depends on it but one that hangs: far longer than any of them takes on a slow machine. */
    static final long PATIENCE_SECONDS = 120;

    private Crowd() {}

    /** What one of the threads does. */
    @FunctionalInterface
    interface Part<T> {
        T run(int number) throws Exception;
    }

    /** Runs a part in each of some threads, from one moment on, and returns their results in order. */
    static <T> List<T> run(int threads, Part<T> part) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Call<T>> calls = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            calls.add(new Call<>("crowd-" + number, () -> {
                start.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
                return part.run(number);
            }));
        }
        List<T> results = new ArrayList<>();
        try {
            for (Call<T> call : calls) {
                results.add(call.result());
            }
        } finally {
            calls.forEach(Call::interrupt);
        }
        return results;
    }

    /** Runs one call, and fails if it hangs. */
    static <T> T within(Callable<T> callable) throws Exception {
        return new Call<>("caller", callable).result();
    }

    /** One call in a thread of its own. */
    static final class Call<T> {

        private final FutureTask<T> task;
        private final Thread thread;

        Call(String name, Callable<T> callable) {
            task = new FutureTask<>(callable);
            thread = new Thread(task, name);
            thread.setDaemon(true);
            thread.start();
        }

        void interrupt() {
            thread.interrupt();
        }

        /** Waits for the result, or throws what the call threw. */
        T result() throws Exception {
            try {
                return task.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                AssertionError hung = new AssertionError(thread.getName() + " hangs: " + where());
                interrupt();
                throw hung;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Exception thrown) {
                    throw thrown;
                }
                throw new AssertionError(thread.getName() + " failed", e.getCause());
            }
        }

        /**
         * Gives the call the time to end or to run into what it must wait for. A wait in a driver's socket can't be seen
         * from here, so this goes on after a while: that makes a meeting likely, and no assertion rests on it.
         */
        void awaitStuckOrEnded() {
            long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (!task.isDone() && !isStuck() && System.nanoTime() - patience < 0) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
        }

        private boolean isStuck() {
            return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
        }

        private String where() {
            return String.join(
                    "\n  at ",
                    Arrays.stream(thread.getStackTrace())
                            .map(StackTraceElement::toString)
                            .toList());
        }
    }
}
