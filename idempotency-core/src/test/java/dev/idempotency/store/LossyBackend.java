package dev.idempotency.store;

import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** A backend behind a line that loses questions and replies, as told. */
final class LossyBackend implements LeaseBackend {

    enum Primitive {
        CLAIM,
        COMPLETE,
        RELEASE,
        EXTEND
    }

    private record Fault(boolean applied, RuntimeException failure) {}

    private final LeaseBackend backend;
    private final Map<Primitive, Queue<Fault>> faults = new EnumMap<>(Primitive.class);
    private final Map<Primitive, Integer> asked = new ConcurrentHashMap<>();
    private final Map<Primitive, Runnable> events = new EnumMap<>(Primitive.class);

    LossyBackend(LeaseBackend backend) {
        this.backend = backend;
    }

    /** The reply is lost: what was asked is done. */
    LossyBackend loseReplies(Primitive primitive, int times) {
        return fail(primitive, times, true, new IllegalStateException("the reply was lost"));
    }

    /** The question is lost: nothing is done. */
    LossyBackend loseQuestions(Primitive primitive, int times) {
        return fail(primitive, times, false, new IllegalStateException("the question was lost"));
    }

    LossyBackend fail(Primitive primitive, int times, boolean applied, RuntimeException failure) {
        for (int i = 0; i < times; i++) {
            faults.computeIfAbsent(primitive, p -> new ArrayDeque<>()).add(new Fault(applied, failure));
        }
        return this;
    }

    /** What happens each time a primitive is asked for. */
    LossyBackend on(Primitive primitive, Runnable event) {
        events.put(primitive, event);
        return this;
    }

    int asked(Primitive primitive) {
        return asked.getOrDefault(primitive, 0);
    }

    @Override
    public Claim claim(Request request, UUID owner, Duration lease, Duration retention) {
        return ask(Primitive.CLAIM, () -> backend.claim(request, owner, lease, retention));
    }

    @Override
    public boolean complete(Request request, UUID owner, long token, byte[] payload, Duration retention) {
        return ask(Primitive.COMPLETE, () -> backend.complete(request, owner, token, payload, retention));
    }

    @Override
    public boolean release(Request request, UUID owner, long token) {
        return ask(Primitive.RELEASE, () -> backend.release(request, owner, token));
    }

    @Override
    public boolean extend(Request request, UUID owner, long token, Duration by) {
        return ask(Primitive.EXTEND, () -> backend.extend(request, owner, token, by));
    }

    private <T> T ask(Primitive primitive, Supplier<T> question) {
        asked.merge(primitive, 1, Integer::sum);
        events.getOrDefault(primitive, () -> {}).run();
        Queue<Fault> planned = faults.get(primitive);
        Fault fault = planned == null ? null : planned.poll();
        if (fault != null && !fault.applied) {
            throw fault.failure;
        }
        T reply = question.get();
        if (fault != null) {
            throw fault.failure;
        }
        return reply;
    }
}
