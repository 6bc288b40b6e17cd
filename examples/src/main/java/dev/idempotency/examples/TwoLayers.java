package dev.idempotency.examples;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.window.CaffeineWindow;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.h2.jdbcx.JdbcConnectionPool;
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
        if (arguments.length > 1 || (arguments.length == 1 && !arguments[0].matches("[^-;][^;]*"))) {
            System.err.println("allowed is one argument, the path of the database file, without a semicolon");
            System.exit(2);
        }
        Path file = Path.of(arguments.length > 0 ? arguments[0] : "target/two-layers")
                .toAbsolutePath();
        try {
            Files.createDirectories(file.getParent());
        } catch (IOException e) {
            System.err.println("allowed is a path where a file can be written, which " + file + " is not");
            System.exit(2);
        }
        run(file, System.out);
    }

    static void run(Path file, PrintStream out) {
        // Without WRITE_DELAY=0 a commit may be acknowledged half a second before it is in the file.
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:file:" + file + ";WRITE_DELAY=0", "sa", "");
        try {
            TwoLayers service = new TwoLayers(Jdbi.create(pool));
            Optional<String> order = Optional.of("order-4711");
            out.println("The database is " + file + ".mv.db; the second run finds it there, and executes nothing.");
            show(out, "a message", service.receive("ana", "m-1", Optional.empty(), "on my way"));
            show(out, "its resend", service.receive("ana", "m-1", Optional.empty(), "on my way"));
            show(out, "an order", service.receive("till-1", "m-1", order, "two loaves"));
            show(out, "the shop asks again, new message ID", service.receive("till-2", "m-1", order, "two loaves"));
            show(
                    out,
                    "a resend of that, message ID alone",
                    service.receive("till-2", "m-1", Optional.empty(), "two loaves"));
        } finally {
            pool.dispose();
        }
    }

    private static void show(PrintStream out, String what, Outcome<String> outcome) {
        out.printf("%-36s %-16s %s%n", what, outcome.response(), outcome);
    }
}
