package dev.idempotency.examples;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.window.CaffeineWindow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * A service that knows a message by its sender's message ID and by a business system's own ID, over H2 in a file. The
 * library's table stands beside the service's own, in the same transaction. Run it twice: the second run replays all.
 */
public final class TwoLayers {

    private final Idempotency<Handle, String> sends;

    TwoLayers(Jdbi jdbi) {
        jdbi.useHandle(
                handle -> handle.execute(
                        "CREATE TABLE IF NOT EXISTS message ("
                                + "id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sender VARCHAR NOT NULL, body VARCHAR NOT NULL)"));
        sends = Idempotency.with(JdbcStores.transactional(jdbi, Codec.utf8()))
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();
    }

    Outcome<String> receive(String sender, String messageId, Optional<String> orderId, String body) {
        Request request = Request.of(IdempotencyKey.of("im", sender, messageId))
                .andIfPresent(orderId.map(id -> IdempotencyKey.of("order", "shop", id)))
                .fingerprint(Fingerprint.sha256(body));
        return sends.execute(request, handle -> "stored as row " + insert(handle, sender, body));
    }

    private static long insert(Handle handle, String sender, String body) {
        return handle.createUpdate("INSERT INTO message (sender, body) VALUES (?, ?)")
                .bind(0, sender)
                .bind(1, body)
                .executeAndReturnGeneratedKeys("id")
                .mapTo(Long.class)
                .one();
    }

    /**
     * Runs the program.
     *
     * @param arguments the database file, without its ending; {@code target/two-layers} if none is given
     */
    public static void main(String[] arguments) {
        Path file = Path.of(arguments.length > 0 ? arguments[0] : "target/two-layers")
                .toAbsolutePath();
        TwoLayers service = new TwoLayers(Jdbi.create("jdbc:h2:file:" + file));
        System.out.println("database: " + file + ".mv.db");
        Optional<String> order = Optional.of("4711");
        show("a message", service.receive("ana", "m-1", Optional.empty(), "on my way"));
        show("its resend", service.receive("ana", "m-1", Optional.empty(), "on my way"));
        show("an order", service.receive("shop-1", "m-1", order, "two loaves"));
        show("the shop calls again, new message ID", service.receive("shop-2", "m-9", order, "two loaves"));
        show("a resend under that ID alone", service.receive("shop-2", "m-9", Optional.empty(), "two loaves"));
    }

    private static void show(String what, Outcome<String> outcome) {
        System.out.printf("%-38s%-15s%s%n", what, outcome.response(), outcome);
    }
}
