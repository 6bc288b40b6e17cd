package dev.idempotency.examples.runs;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * The effects are outside of what the store commits: in a table that refuses nothing and is written at once, as a payment
 * would be. An action that has taken over looks there before it causes its effect again.
 */
final class LeasedService extends JdbcService {

    /** Short, so that it is the senders who see for how long a key stays taken. */
    private static final Duration WAIT = Duration.ofMillis(250);

    private final Idempotency<Lease, String> sends;
    private final LongAdder takeovers = new LongAdder();

    LeasedService(ServiceSettings settings) {
        super(settings, EFFECTS, CREATE_EFFECTS, INDEX_EFFECTS);
        // A claim of a duplicate waits for the one in front a while, before its sender is told to come again.
        sends = front(JdbcStores.leased(
                jdbi,
                Codec.utf8(),
                LeaseOptions.defaults().lease(settings.lease()).waitAtMost(WAIT)));
    }

    @Override
    public Outcome<String> send(Request request, Effect effect) {
        return sends.execute(request, lease -> {
            effect.takeTime();
            // With a connection at hand first: nothing may come between the start of the effect and the effect.
            return jdbi.withHandle(handle -> {
                if (lease.takenOver()) {
                    takeovers.increment();
                    Optional<String> earlier = handle.createQuery(
                                    "select response from run_effect where run = ? and number = ?")
                            .bind(0, settings.run())
                            .bind(1, effect.number())
                            .mapTo(String.class)
                            .findFirst();
                    if (earlier.isPresent()) {
                        return earlier.get();
                    }
                }
                lease.effectStarts();
                handle.execute(
                        "insert into run_effect (run, number, response) values (?, ?, ?)",
                        settings.run(),
                        effect.number(),
                        effect.response());
                return effect.response();
            });
        });
    }

    @Override
    public long takeovers() {
        return takeovers.sum();
    }
}
