package dev.idempotency.examples.simulation;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStore;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.jdbc.YourTableOptions;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/**
 * The library, as a service would use it. All modes are the same code over the service's own table; they differ in the
 * table's unique keys, in having a window, and in the keys that a request carries.
 *
 * <p>Two layers are two unique keys on that table, so a message costs one insert here too. The table finds a business
 * retry by its business ID and does not learn its message ID; that is enough, as every resend carries both. Where a
 * resend may come with the message ID alone, the library's own table is the one to take.
 */
final class WithLibrary implements Receiver {

    /** Outlasts a sender that gives up at 31 s. */
    private static final Duration WINDOW = Duration.ofSeconds(32);

    private final Idempotency<Handle, Ack> sends;
    private final boolean twoLayers;

    /** What Ben's server answers: the row under which the message is stored. */
    private record Ack(long row) {}

    private WithLibrary(Idempotency<Handle, Ack> sends, boolean twoLayers) {
        this.sends = sends;
        this.twoLayers = twoLayers;
    }

    /** The table has no unique key that could refuse, so the window is all there is. */
    static Receiver windowOnly(Inbox inbox, Ticker clock) {
        return new WithLibrary(windowBefore(store(inbox, List.of()), clock), false);
    }

    static Receiver uniqueKeyOnly(Inbox inbox) {
        return new WithLibrary(Idempotency.with(store(inbox, Inbox.MESSAGE_KEY)).build(), false);
    }

    static Receiver windowAndUniqueKey(Inbox inbox, Ticker clock) {
        return new WithLibrary(windowBefore(store(inbox, Inbox.MESSAGE_KEY), clock), false);
    }

    static Receiver twoLayers(Inbox inbox, Ticker clock) {
        return new WithLibrary(windowBefore(store(inbox, Inbox.BOTH_KEYS), clock), true);
    }

    @Override
    public Verdict receive(Copy copy) {
        Message message = copy.message();
        Request request = Request.of(IdempotencyKey.of("im", Inbox.sender(message), message.id.toString()));
        if (twoLayers) {
            request = request.andIfPresent(Optional.ofNullable(message.businessId)
                    .map(id -> IdempotencyKey.of("notice", Inbox.BUSINESS_SYSTEM, id)));
        }
        Outcome<Ack> outcome = sends.execute(request, handle -> new Ack(Inbox.insert(handle, message)));
        if (outcome instanceof Executed) {
            return Verdict.STORED;
        }
        if (outcome instanceof Replayed<Ack> replayed) {
            return replayed.source() == Outcome.Source.WINDOW ? Verdict.CAUGHT_IN_WINDOW : Verdict.CAUGHT_BY_KEY;
        }
        throw new IllegalStateException("nothing here may be refused: " + outcome);
    }

    private static Idempotency<Handle, Ack> windowBefore(JdbcStore<Ack> store, Ticker clock) {
        return Idempotency.with(store)
                .window(CaffeineWindow.lasting(WINDOW).ticker(clock).executor(Runnable::run))
                .build();
    }

    private static JdbcStore<Ack> store(Inbox inbox, List<List<String>> uniqueKeys) {
        YourTableOptions options = YourTableOptions.defaults();
        for (List<String> columns : uniqueKeys) {
            options = options.uniqueKey("message", columns.toArray(String[]::new));
        }
        return JdbcStores.yourTable(inbox.jdbi(), WithLibrary::findOriginal, options);
    }

    private static Optional<Original<Ack>> findOriginal(Handle handle, IdempotencyKey key) {
        String columns = key.namespace().equals("im") ? "sender, message_id" : "business_system, business_id";
        return handle.createQuery("SELECT id, " + columns + " FROM message WHERE (" + columns + ") = (:scope, :id)")
                .bind("scope", key.scope())
                .bind("id", key.id())
                .map((row, context) -> new Original<>(row.getLong(1), new Ack(row.getLong(1)), null)
                        .recordedAs(IdempotencyKey.of(key.namespace(), row.getString(2), row.getString(3))))
                .findOne();
    }
}
