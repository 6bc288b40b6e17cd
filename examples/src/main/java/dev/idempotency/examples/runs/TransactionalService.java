package dev.idempotency.examples.runs;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyListener;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.Window;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.jdbc.RecordStore;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** The effects are in a table that refuses nothing; the library's table is written with it. */
final class TransactionalService extends JdbcService {

    private final RecordStore<String> store;
    private final Idempotency<Handle, String> sends;

    TransactionalService(ServiceSettings settings) {
        this(settings, settings.window() ? nearWindow() : null, failure -> {});
    }

    /** With this window, if there is one, and whoever hears of its failures. */
    TransactionalService(
            ServiceSettings settings, Window.@Nullable Spec window, Consumer<? super Throwable> onWindowFailure) {
        super(settings, EFFECTS, CREATE_EFFECTS, INDEX_EFFECTS);
        store = JdbcStores.transactional(jdbi, Codec.utf8());
        Idempotency.Builder<Handle, String> builder = Idempotency.with(store).listener(new IdempotencyListener() {
            @Override
            public void windowFailed(Throwable failure) {
                onWindowFailure.accept(failure);
            }
        });
        sends = window == null ? builder.build() : builder.window(window).build();
    }

    @Override
    public Outcome<String> send(Request request, Effect effect) {
        return sends.execute(request, handle -> {
            effect.takeTime();
            handle.execute(
                    "insert into run_effect (run, number, response) values (?, ?, ?)",
                    settings.run(),
                    effect.number(),
                    effect.response());
            return effect.response();
        });
    }

    /** Removes a batch of expired records, and says how many. */
    int purge(int batchSize) {
        return store.purge(batchSize);
    }
}
