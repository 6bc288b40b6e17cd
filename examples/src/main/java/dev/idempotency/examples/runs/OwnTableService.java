package dev.idempotency.examples.runs;

import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStores;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/** The unique keys are on the table of effects itself: one for each layer of names. */
final class OwnTableService extends JdbcService {

    private final Idempotency<Handle, String> sends;

    OwnTableService(ServiceSettings settings) {
        super(
                settings,
                "run_message",
                "create table if not exists run_message (run KEY_TYPE not null, number bigint not null, message_id KEY_TYPE"
                        + " not null, business_id KEY_TYPE, response TEXT_TYPE not null, unique (message_id), unique"
                        + " (business_id))");
        sends = front(JdbcStores.yourTable(jdbi, OwnTableService::find));
    }

    private static Optional<Original<String>> find(Handle handle, IdempotencyKey key) {
        String column = key.namespace().equals(Keys.MESSAGE) ? "message_id" : "business_id";
        return handle.createQuery("select number, response from run_message where " + column + " = ?")
                .bind(0, key.id())
                .map((row, context) -> new Original<>(row.getLong(1), row.getString(2), null))
                .findOne();
    }

    @Override
    public Outcome<String> send(Request request, Effect effect) {
        return sends.execute(request, handle -> {
            effect.takeTime();
            handle.execute(
                    "insert into run_message (run, number, message_id, business_id, response) values (?, ?, ?, ?, ?)",
                    settings.run(),
                    effect.number(),
                    request.keys().get(0).id(),
                    request.keys().size() > 1 ? request.keys().get(1).id() : null,
                    effect.response());
            return effect.response();
        });
    }
}
