package dev.idempotency.examples.runs;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jdbi.v3.core.Handle;

/**
 * The effects are outside of what the store commits: in a table that refuses nothing and is written at once, as a payment
 * would be. An action that has taken over looks there before it causes its effect again.
 */
final class LeasedService extends JdbcService {

    private static final String TOKEN = "#";
    private static final String TAKEN_OVER = "T";

    private final Idempotency<Lease, String> sends;
    private final LongAdder takeovers = new LongAdder();

    LeasedService(ServiceSettings settings) {
        super(settings, EFFECTS, CREATE_EFFECTS, INDEX_EFFECTS);
        // Shorter than the lease, so that it is the senders who see for how long a key stays taken.
        sends = front(JdbcStores.leased(
                jdbi,
                Codec.utf8(),
                LeaseOptions.defaults()
                        .lease(settings.lease())
                        .waitAtMost(settings.lease().dividedBy(4))));
    }

    @Override
    public Outcome<String> send(Request request, Effect effect) {
        return sends.execute(request, lease -> {
            effect.takeTime();
            // With a connection at hand first: nothing may come between the start of the effect and the effect.
            return jdbi.withHandle(handle -> {
                if (lease.takenOver()) {
                    takeovers.increment();
                    Optional<String> earlier = newest(handle, effect.number());
                    if (earlier.isPresent()) {
                        return earlier.get();
                    }
                }
                lease.effectStarts();
                String response = marked(effect, lease);
                handle.execute(
                        "insert into run_effect (run, number, response) values (?, ?, ?)",
                        settings.run(),
                        effect.number(),
                        response);
                return response;
            });
        });
    }

    @Override
    public long takeovers() {
        return takeovers.sum();
    }

    private Optional<String> newest(Handle handle, long number) {
        return handle
                .createQuery("select response from run_effect where run = ? and number = ?")
                .bind(0, settings.run())
                .bind(1, number)
                .mapTo(String.class)
                .list()
                .stream()
                .max(Comparator.comparingLong(LeasedService::token));
    }

    /** The effect of a holder that overran its lease may come beside that of whoever took over, which is the newer one. */
    @Override
    public boolean overrides(String effect, String other) {
        return isNewer(effect, other);
    }

    /** The response of an effect, with what tells it from another holder's. */
    static String marked(Effect effect, Lease lease) {
        return effect.response() + TOKEN + lease.token() + (lease.takenOver() ? TAKEN_OVER : "");
    }

    static boolean isNewer(String effect, String other) {
        return effect.endsWith(TAKEN_OVER) && token(effect) > token(other);
    }

    static long token(String response) {
        String token = response.substring(response.lastIndexOf(TOKEN) + 1);
        return Long.parseLong(token.replace(TAKEN_OVER, ""));
    }
}
