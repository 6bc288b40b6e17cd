package dev.idempotency.store;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where duplicates wait inside one process, so that they hold no connection while they do. For authors of stores.
 *
 * <ol>
 *   <li>A call enters with all keys of its request, in byte order, and is alone with each of them until it leaves. Calls
 *       that share no key don't meet: there is one entry for each key in use, and no striping.
 *   <li>The one in front says what is committed, if anything, and leaves.
 *   <li>Those who were waiting for it by then are answered with that, each by its own fingerprint, and ask no store.
 *       If it said nothing, because it failed, the one that has waited longest goes next.
 * </ol>
 *
 * <p>The gate is a courtesy within a process and decides nothing: what is first is up to the store. Waiting is
 * interruptible and bounded. Safe for use by any number of threads, virtual ones too: nothing waits inside a monitor.
 *
 * @param <R> the response
 */
public final class KeyGate<R extends @Nullable Object> {

    /** Half the range of a clock that is compared by difference. */
    private static final long LONGEST_NANOS = Long.MAX_VALUE >> 1;

    private final Map<IdempotencyKey, Turn<R>> turns = new ConcurrentHashMap<>();

    /** A gate with nobody inside. */
    public KeyGate() {}

    /**
     * Waits until no other call is inside with any key of the request.
     *
     * @param request whose keys
     * @param atMost for how long in all
     * @return a pass, to be closed in every case; look at {@link Pass#refusal} first
     * @throws InterruptedException if the thread is interrupted before it is inside
     */
    public Pass<R> enter(Request request, Duration atMost) throws InterruptedException {
        long arrived = System.nanoTime();
        Pass<R> pass = new Pass<>(this, request, arrived);
        try {
            pass.enter(arrived + nanos(atMost));
        } catch (InterruptedException | RuntimeException e) {
            pass.close();
            throw e;
        }
        return pass;
    }

    /**
     * Waits until no other call is inside with any key of any of the requests. Keys are taken in byte order across all of
     * them. A request that is still blocked when the time is over takes no part; the others do.
     *
     * @param requests whose keys; no two of them share one
     * @param atMost for how long in all
     * @return a pass for each request, in their order; each to be closed in every case
     * @throws InterruptedException if the thread is interrupted before it is inside
     */
    public List<Pass<R>> enterAll(List<Request> requests, Duration atMost) throws InterruptedException {
        long arrived = System.nanoTime();
        long deadline = arrived + nanos(atMost);
        TreeMap<IdempotencyKey, Pass<R>> inOrder = new TreeMap<>();
        List<Pass<R>> passes = new ArrayList<>();
        try {
            for (Request request : requests) {
                Pass<R> pass = new Pass<>(this, request, arrived);
                passes.add(pass);
                for (IdempotencyKey key : request.keys()) {
                    if (inOrder.put(key, pass) != null) {
                        throw new IllegalArgumentException("two of the requests share the key " + key);
                    }
                }
            }
            for (Pass<R> next : inOrder.values()) {
                next.enterNext(deadline);
            }
        } catch (InterruptedException | RuntimeException e) {
            passes.forEach(Pass::close);
            throw e;
        }
        return passes;
    }

    /** How many keys calls are inside with or wait for. */
    int size() {
        return turns.size();
    }

    private static long nanos(Duration duration) {
        return duration.compareTo(Duration.ofNanos(LONGEST_NANOS)) > 0 ? LONGEST_NANOS : duration.toNanos();
    }

    private Turn<R> joinQueue(IdempotencyKey key) {
        return turns.compute(key, (k, turn) -> {
            Turn<R> joined = turn == null ? new Turn<>() : turn;
            joined.users++;
            return joined;
        });
    }

    private void leaveQueue(IdempotencyKey key) {
        turns.computeIfPresent(key, (k, turn) -> --turn.users == 0 ? null : turn);
    }

    /** One key in use. */
    private static final class Turn<R extends @Nullable Object> {

        /** Calls inside or waiting; guarded by the map's lock on the key. */
        int users;

        final Semaphore inside = new Semaphore(1, true);
        volatile @Nullable Thread holder;
        volatile @Nullable Fingerprint holdersFingerprint;
        volatile @Nullable Settled<R> settled;
    }

    private record Settled<R extends @Nullable Object>(Original<R> original, long at, long until) {}

    /**
     * The right to be alone with some keys.
     *
     * @param <R> the response
     */
    public static final class Pass<R extends @Nullable Object> implements AutoCloseable {

        private final KeyGate<R> gate;
        private final Request request;
        private final long arrived;
        private final List<IdempotencyKey> keys;
        private final List<Turn<R>> turns;
        private int inside;
        private @Nullable IdempotencyKey blockedBy;

        private Pass(KeyGate<R> gate, Request request, long arrived) {
            this.gate = gate;
            this.request = request;
            this.arrived = arrived;
            this.keys = request.keysInByteOrder();
            // In every queue from the start: what is said at a later key while this call waits at an earlier one
            // counts.
            this.turns = new ArrayList<>(keys.size());
            for (IdempotencyKey key : keys) {
                turns.add(gate.joinQueue(key));
            }
        }

        private void enter(long deadline) throws InterruptedException {
            while (inside < turns.size() && blockedBy == null) {
                enterNext(deadline);
            }
        }

        /** Takes the next key, unless an earlier one could not be had. */
        private void enterNext(long deadline) throws InterruptedException {
            if (blockedBy != null) {
                return;
            }
            Turn<R> turn = turns.get(inside);
            // A call that comes back to its own key from inside its action would wait for itself.
            if (turn.holder == Thread.currentThread()
                    || !turn.inside.tryAcquire(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                blockedBy = keys.get(inside);
                return;
            }
            turn.holder = Thread.currentThread();
            turn.holdersFingerprint = request.fingerprint();
            inside++;
        }

        /**
         * The refusal of a call that is not inside, because another one still was when the time to wait was over: a mismatch
         * if that one has another fingerprint, in progress otherwise.
         *
         * @param retryAfter what to tell a caller who may ask again
         * @return the refusal, or null if this call is inside
         */
        public Outcome.@Nullable Refused<R> refusal(Duration retryAfter) {
            if (blockedBy == null) {
                return null;
            }
            return Fingerprint.differ(request.fingerprint(), turns.get(inside).holdersFingerprint)
                    ? new Outcome.Mismatch<>(blockedBy)
                    : new Outcome.InProgress<>(blockedBy, retryAfter);
        }

        /**
         * The answer, if calls that this one waited for have found it: all keys were settled since this call arrived, as one
         * record.
         *
         * @return the answer, or null if the store has to be asked
         */
        public @Nullable Outcome<R> answer() {
            if (inside < keys.size()) {
                return null;
            }
            long now = System.nanoTime();
            Map<IdempotencyKey, Original<R>> found = new HashMap<>();
            for (int i = 0; i < inside; i++) {
                Settled<R> settled = turns.get(i).settled;
                if (settled == null || settled.at - arrived < 0 || settled.until - now <= 0) {
                    return null;
                }
                found.put(keys.get(i), settled.original);
            }
            Outcome<R> answer = Judgement.answer(request, found);
            // The gate decides nothing: the first call may not know its record's identity, which others have read.
            return answer instanceof Outcome.Conflict ? null : answer;
        }

        /**
         * Leaves word for those who are waiting.
         *
         * @param names keys under which the store has recorded the original; others are passed over
         * @param original what is committed
         * @param remaining for how much longer the store keeps it, or null if without limit
         */
        public void settle(
                Collection<IdempotencyKey> names, Original<? extends R> original, @Nullable Duration remaining) {
            long now = System.nanoTime();
            // Counted from before the store was asked, so that nobody is answered with what has expired.
            long until = arrived + (remaining == null ? LONGEST_NANOS : nanos(remaining));
            Original<R> kept = new Original<>(original.identity(), original.response(), original.fingerprint());
            for (int i = 0; i < inside; i++) {
                if (names.contains(keys.get(i))) {
                    turns.get(i).settled = new Settled<>(kept, now, until);
                }
            }
        }

        /** Leaves; the next one may enter. */
        @Override
        public void close() {
            for (int i = turns.size() - 1; i >= 0; i--) {
                if (i < inside) {
                    turns.get(i).holder = null;
                    turns.get(i).holdersFingerprint = null;
                    turns.get(i).inside.release();
                }
                gate.leaveQueue(keys.get(i));
            }
            turns.clear();
            inside = 0;
        }
    }
}
