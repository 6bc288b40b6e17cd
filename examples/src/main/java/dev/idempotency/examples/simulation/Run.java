package dev.idempotency.examples.simulation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One mode from the first message to the last. What Ben has seen is kept as one bit a message; all else is in the
 * database, or under way for a while.
 */
final class Run {

    /** Told of every copy, with what became of it; null for one that was lost on its way. */
    interface Watcher extends BiConsumer<Copy, @Nullable Sight> {}

    /**
     * What became of a copy that arrived.
     *
     * @param verdict of the server
     * @param again whether Ben had seen its meaning before
     */
    record Sight(Verdict verdict, boolean again) {}

    private final Mode mode;
    private final Network network;
    private final Settings settings;
    private final BitSet arrived = new BitSet();
    private final BitSet seen = new BitSet();
    private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    private long copies;
    private long now;

    Run(Settings settings, Mode mode) {
        this.settings = settings;
        this.mode = mode;
        this.network = new Network(settings);
    }

    Tally watchedBy(Watcher watcher) {
        try (Inbox inbox = Inbox.open(settings.messages(), mode.uniqueKeys())) {
            List<Receiver> servers = new ArrayList<>();
            for (int i = 0; i < settings.servers(); i++) {
                servers.add(mode.server(inbox, () -> now));
            }
            while (network.hasNext()) {
                Copy copy = network.next();
                now = copy.at();
                watcher.accept(copy, copy.arrived() ? receive(servers.get(copy.server()), copy) : null);
            }
            long statements = inbox.statements();
            long rows = inbox.rows();
            return new Tally(
                    mode,
                    copies,
                    rows,
                    rows - seen.cardinality(),
                    arrived.cardinality() - seen.cardinality(),
                    verdicts.getOrDefault(Verdict.CAUGHT_IN_WINDOW, 0L),
                    verdicts.getOrDefault(Verdict.CAUGHT_BY_KEY, 0L),
                    statements,
                    arrived.cardinality());
        }
    }

    /** The network that this run takes its copies from. */
    Network network() {
        return network;
    }

    private Sight receive(Receiver server, Copy copy) {
        int meaning = copy.message().meaning;
        Verdict verdict = server.receive(copy);
        copies++;
        verdicts.merge(verdict, 1L, Long::sum);
        arrived.set(meaning);
        boolean again = seen.get(meaning);
        if (verdict == Verdict.STORED) {
            seen.set(meaning);
        }
        return new Sight(verdict, again);
    }
}
