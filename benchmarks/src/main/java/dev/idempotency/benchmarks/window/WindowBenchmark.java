package dev.idempotency.benchmarks.window;

import dev.idempotency.Action;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.Window;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * Windows that are full and stay so: a virtual clock moves on by one message's time for each message that is published,
 * so that as many entries go as come.
 *
 * <p>Every operation makes its key's texts anew, as a service does; {@link #key} tells how much of its time that is. Run by
 * {@link WindowSpeed}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(
        value = 1,
        jvmArgsAppend = {"-Xms4g", "-Xmx4g"})
public class WindowBenchmark {

    /** One of nine looks is for a message that was seen before: 11%. */
    private static final int REPEAT_EVERY = 9;

    private static final int CLOCK_BATCH = 16;

    /** A full window. */
    @State(Scope.Benchmark)
    public static class Full {

        /** Which window. */
        @Param({"COMPACT", "CAFFEINE", "MAP"})
        public Kind kind = Kind.COMPACT;

        /** Messages a second. */
        @Param({"139", "13900"})
        public int rate;

        /** For how many seconds the window remembers. */
        @Param({"32", "300"})
        public int seconds;

        final AtomicLong nanos = new AtomicLong();
        Window<byte[]> window =
                Kind.MAP.spec(java.time.Duration.ZERO, nanos::get).create();
        Idempotency<Object, byte[]> sends = Idempotency.with(new NoStore()).build();
        int threads;
        int share;
        long between;

        /** Fills it. */
        @Setup(Level.Trial)
        public void fill(BenchmarkParams params) {
            Load load = new Load(rate, seconds);
            threads = params.getThreads();
            share = load.ids() / threads;
            between = load.nanosBetween();
            Window.Spec spec = kind.spec(load.lasting(), nanos::get);
            window = spec.create();
            sends = Idempotency.with(new NoStore())
                    .window(new Given(spec, window))
                    .build();
            for (int i = 0; i < share; i++) {
                for (int thread = 0; thread < threads; thread++) {
                    window.put(Messages.key(number(thread, i)), Messages.original(i), nanos.get() + Long.MAX_VALUE / 2);
                    nanos.addAndGet(between);
                }
            }
        }

        static long number(int thread, long i) {
            return (long) thread << 40 | i;
        }
    }

    /** What one thread sends: numbers that are its own. */
    @State(Scope.Thread)
    public static class Sender {
        private int thread;
        private long next;
        private long random;
        private int pending;

        /** Begins where filling has ended. */
        @Setup(Level.Trial)
        public void begin(Full full, ThreadParams params) {
            thread = params.getThreadIndex();
            next = full.share;
            random = thread;
        }

        long random() {
            return Messages.mixed(++random);
        }

        /** The key of a message that is still in the window. */
        IdempotencyKey seen(Full full) {
            // The oldest tenth may be over while the clock of the other thread is ahead.
            long back = Math.floorMod(random(), (long) full.share - full.share / 10) + 1;
            return Messages.key(Full.number(thread, next - back));
        }

        IdempotencyKey fresh() {
            return Messages.key(Full.number(thread, next));
        }

        void published(Full full) {
            if (full.kind == Kind.MAP) {
                full.window.remove(Messages.key(Full.number(thread, next - full.share)));
            }
            next++;
            if (++pending == CLOCK_BATCH) {
                full.nanos.addAndGet(CLOCK_BATCH * full.between);
                pending = 0;
            }
        }
    }

    /** What a key costs to make, in every other figure too. */
    @Benchmark
    public IdempotencyKey key(Sender sender) {
        return Messages.key(sender.random());
    }

    /** A look for a new message. */
    @Benchmark
    public @Nullable Object miss(Full full, Sender sender) {
        return full.window.get(Messages.key(sender.random() | Long.MIN_VALUE));
    }

    /** A look for one that is there. */
    @Benchmark
    public @Nullable Object hit(Full full, Sender sender) {
        Original<byte[]> found = full.window.get(sender.seen(full));
        if (found == null) {
            throw new IllegalStateException("a message of the window was not found");
        }
        return found;
    }

    /** Keeping a new message. */
    @Benchmark
    public void publish(Full full, Sender sender) {
        full.window.put(sender.fresh(), Messages.original(sender.next), full.nanos.get() + Long.MAX_VALUE / 2);
        sender.published(full);
    }

    /** What a window does for a service: a look, and keeping the message if it is new; one of nine is a repeat. */
    @Benchmark
    public @Nullable Object checkAndPublish(Full full, Sender sender) {
        if (Math.floorMod(sender.random(), REPEAT_EVERY) == 0) {
            return full.window.get(sender.seen(full));
        }
        IdempotencyKey key = sender.fresh();
        Original<byte[]> found = full.window.get(key);
        if (found == null) {
            full.window.put(key, Messages.original(sender.next), full.nanos.get() + Long.MAX_VALUE / 2);
            sender.published(full);
        }
        return found;
    }

    /** A repeat at the front door, answered from the window. */
    @Benchmark
    public Outcome<byte[]> repeat(Full full, Sender sender) {
        return full.sends.execute(Request.of(sender.seen(full)), nothing -> new byte[0]);
    }

    /** A spec of the window that is there already. */
    private record Given(Window.Spec spec, Window<byte[]> window) implements Window.Spec {
        @Override
        public java.time.Duration lasting() {
            return spec.lasting();
        }

        @Override
        @SuppressWarnings("unchecked") // There is one kind of response in this class.
        public <R extends @Nullable Object> Window<R> create() {
            return (Window<R>) window;
        }
    }

    /** A store that is never asked. */
    private static final class NoStore implements IdempotencyStore<Object, byte[]> {
        @Override
        public <X extends Exception> Outcome<byte[]> execute(
                Request request,
                Action<? super Object, ? extends byte[], X> action,
                Publication<? super byte[]> publication) {
            throw new IllegalStateException("the window did not answer");
        }

        @Override
        public java.time.@Nullable Duration retention() {
            return null;
        }
    }
}
