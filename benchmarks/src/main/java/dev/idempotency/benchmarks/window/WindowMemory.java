package dev.idempotency.benchmarks.window;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Window;
import dev.idempotency.benchmarks.Results;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.openjdk.jol.info.GraphLayout;

/**
 * How many bytes an ID costs: the heap after a collection, with and without full windows, in a JVM of its own for each
 * window and size; for small ones also what JOL counts. A heap wanders by up to 1 MB by itself, so small windows are filled
 * many side by side, and their number divides what they take. Writes {@code window-memory.csv}.
 *
 * <p>{@code mvn -q -B compile exec:exec -pl benchmarks -am -Dbenchmark=window.WindowMemory}
 */
public final class WindowMemory {

    /** What an ID takes on paper: 16 for itself, the rest for the sender and a time. */
    private static final int PAPER_BYTES = 32;

    private static final String HEADER =
            "window,ids,windows,heap_bytes,bytes_per_id,jol_bytes_per_id,payload_bytes,paper_bytes";

    /** JOL walks every object, which takes minutes for millions. */
    private static final int MOST_FOR_JOL = 50_000;

    /** What is filled together at the least. */
    private static final int IDS_TOGETHER = 444_800;

    private WindowMemory() {}

    /** What is measured: the windows, and caches and maps as services write them by hand. */
    enum Subject {
        /** Bytes in arrays. */
        COMPACT_WINDOW,
        /** Objects in a Caffeine cache, by the library's key. */
        CAFFEINE_WINDOW,
        /** A Caffeine cache by hand, by UUID, without a sender. */
        CAFFEINE_UUID,
        /** A Caffeine cache by hand, by a text of sender and ID. */
        CAFFEINE_STRING,
        /** A map by hand, by a record of sender and UUID, that forgets nothing. */
        MAP_RECORD
    }

    private record SenderAndId(String sender, UUID id) {}

    /**
     * Runs every case, or the one that is named.
     *
     * @param arguments none; or a subject, a rate and a duration in seconds, whose line is printed
     * @throws IOException if a JVM can't be started or results can't be written
     * @throws InterruptedException if somebody interrupts
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 3) {
            Load load = new Load(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
            System.out.println(measured(Subject.valueOf(arguments[0]), load, load.ids() <= MOST_FOR_JOL));
            return;
        }
        List<String> lines = new ArrayList<>(List.of(HEADER));
        for (Load load : Load.ALL) {
            for (Subject subject : Subject.values()) {
                lines.add(forked(subject, load));
                System.out.println(lines.get(lines.size() - 1));
            }
        }
        Results.write("window-memory.csv", lines);
    }

    private static String forked(Subject subject, Load load) throws IOException, InterruptedException {
        List<String> output = Jvm.run(
                List.of("-Xmx4g", "-Djdk.attach.allowAttachSelf", "-Djol.magicFieldOffset=true"),
                WindowMemory.class,
                subject.name(),
                Integer.toString(load.rate()),
                Integer.toString(load.seconds()));
        return output.stream()
                .filter(line -> line.startsWith(subject.name() + ","))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no result of " + subject + ": " + output));
    }

    /** A line of results. */
    static String measured(Subject subject, Load load, boolean withJol) throws InterruptedException {
        int windows = Math.max(1, (IDS_TOGETHER + load.ids() - 1) / load.ids());
        // One to throw away: the classes that it loads, and what they hold, are no window's.
        full(subject, Load.ALL[0], 1);
        long before = heapAfterCollection();
        List<Filled> filled = full(subject, load, windows);
        long bytes = (heapAfterCollection() - before) / windows;
        for (Filled window : filled) {
            long held = window.size.getAsLong();
            if (held < load.ids() || held > load.ids() * 1.1) {
                throw new IllegalStateException(subject + " holds " + held + " instead of " + load.ids());
            }
        }
        String jol = withJol
                ? String.format(
                        Locale.ROOT,
                        "%.1f",
                        GraphLayout.parseInstance(filled.get(0).root).totalSize() / (double) load.ids())
                : "";
        return String.format(
                Locale.ROOT,
                "%s,%d,%d,%d,%.1f,%s,%d,%d",
                subject,
                load.ids(),
                windows,
                bytes,
                bytes / (double) load.ids(),
                jol,
                Messages.PAYLOAD_BYTES,
                PAPER_BYTES);
    }

    private record Filled(Object root, LongConsumer put, LongSupplier size) {}

    private static List<Filled> full(Subject subject, Load load, int windows) {
        AtomicLong nanos = new AtomicLong();
        List<Filled> filled = new ArrayList<>();
        for (int i = 0; i < windows; i++) {
            filled.add(filled(subject, load, nanos));
        }
        // Half as many again, so that they are in their steady state: entries have gone, and their room was used.
        for (long number = 0; number < load.ids() * 3L / 2; number++) {
            for (Filled window : filled) {
                window.put.accept(number);
            }
            nanos.addAndGet(load.nanosBetween());
        }
        return filled;
    }

    private static Filled filled(Subject subject, Load load, AtomicLong nanos) {
        return switch (subject) {
            case COMPACT_WINDOW ->
                filled(Kind.COMPACT.spec(load.lasting(), nanos::get).create(), nanos);
            case CAFFEINE_WINDOW ->
                filled(Kind.CAFFEINE.spec(load.lasting(), nanos::get).create(), nanos);
            case CAFFEINE_UUID -> {
                Cache<UUID, byte[]> cache = cache(load, nanos).build();
                yield new Filled(
                        cache, number -> cache.put(Messages.id(number), Messages.response(number)), () -> size(cache));
            }
            case CAFFEINE_STRING -> {
                Cache<String, byte[]> cache = cache(load, nanos).build();
                yield new Filled(
                        cache, number -> cache.put(text(number), Messages.response(number)), () -> size(cache));
            }
            case MAP_RECORD -> {
                ConcurrentHashMap<SenderAndId, byte[]> map = new ConcurrentHashMap<>();
                yield new Filled(
                        map,
                        number -> {
                            map.put(record(number), Messages.response(number));
                            map.remove(record(number - load.ids()));
                        },
                        map::mappingCount);
            }
        };
    }

    private static Filled filled(Window<byte[]> window, AtomicLong nanos) {
        return new Filled(
                window,
                number -> window.put(Messages.key(number), Messages.original(number), nanos.get() + Long.MAX_VALUE / 2),
                () -> window.stats().entries());
    }

    private static Caffeine<Object, Object> cache(Load load, AtomicLong nanos) {
        return Caffeine.newBuilder()
                .expireAfterWrite(load.lasting())
                .ticker(nanos::get)
                .executor(Runnable::run);
    }

    private static long size(Cache<?, ?> cache) {
        cache.cleanUp();
        return cache.estimatedSize();
    }

    private static String text(long number) {
        IdempotencyKey key = Messages.key(number);
        return key.namespace() + ':' + key.scope() + ':' + key.id();
    }

    private static SenderAndId record(long number) {
        return new SenderAndId(Messages.sender(number), Messages.id(number));
    }

    private static long heapAfterCollection() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(50); // For what collections leave to other threads, such as references.
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
