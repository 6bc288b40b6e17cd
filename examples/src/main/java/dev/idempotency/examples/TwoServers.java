package dev.idempotency.examples;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.jdbc.JdbcStores;
import dev.idempotency.redis.RedisWindow;
import dev.idempotency.window.CaffeineWindow;
import dev.idempotency.window.TieredWindow;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.h2.jdbcx.JdbcConnectionPool;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Two servers of one service, side by side on one database. Each has a window in its memory, and behind it one in Redis that
 * both share: what one has stored, the other replays without asking the database. Start a Redis and run it.
 */
public final class TwoServers {

    private final AtomicInteger databaseAsked = new AtomicInteger();
    private final Idempotency<Handle, String> sends;

    TwoServers(JdbcConnectionPool pool, UnifiedJedis redis) {
        Jdbi jdbi = Jdbi.create(() -> {
            databaseAsked.incrementAndGet();
            return pool.getConnection();
        });
        jdbi.useHandle(handle -> handle.execute("CREATE TABLE IF NOT EXISTS message (body VARCHAR NOT NULL)"));
        sends = Idempotency.with(JdbcStores.transactional(jdbi, Codec.utf8()))
                .window(TieredWindow.of(
                        CaffeineWindow.lasting(Duration.ofMinutes(1)),
                        RedisWindow.lasting(Duration.ofMinutes(5), redis, Codec.utf8())))
                .build();
        databaseAsked.set(0);
    }

    Outcome<String> receive(String sender, String messageId, String body) {
        return sends.execute(Request.of(IdempotencyKey.of("im", sender, messageId)), handle -> {
            handle.execute("INSERT INTO message VALUES (?)", body);
            return "stored " + body;
        });
    }

    /** How many connections the calls have taken. */
    int databaseAsked() {
        return databaseAsked.get();
    }

    /**
     * Runs the program.
     *
     * @param arguments {@code --redis host:port}; {@code 127.0.0.1:6379} if nothing is given
     */
    public static void main(String[] arguments) {
        boolean given = arguments.length == 2 && arguments[0].equals("--redis") && arguments[1].matches(".+:\\d{1,5}");
        if (!given && arguments.length > 0) {
            System.err.println("allowed is --redis host:port");
            System.exit(2);
        }
        String address = given ? arguments[1] : "127.0.0.1:6379";
        int colon = address.lastIndexOf(':');
        run(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)), System.out);
    }

    static void run(String host, int port, PrintStream out) {
        // A sender of its own for each run: Redis may still know the messages of the last one, whose database is gone.
        String sender = "ana-" + System.nanoTime();
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:" + sender, "sa", "");
        try (RedisClient client = RedisClient.create(host, port)) {
            TwoServers first = new TwoServers(pool, client);
            TwoServers second = new TwoServers(pool, client);
            show(out, "a message to the first server", first.receive(sender, "m-1", "on my way"));
            // The window in Redis is written a moment after the answer; a resend before that would be the database's to
            // stop.
            for (int i = 0; i < 2_000 && client.keys("*" + sender + "*").isEmpty(); i++) {
                LockSupport.parkNanos(1_000_000);
            }
            show(out, "its resend to the second", second.receive(sender, "m-1", "on my way"));
            show(out, "once more", second.receive(sender, "m-1", "on my way"));
            out.printf(
                    "the database was asked %d time(s) by the first, %d by the second%n",
                    first.databaseAsked(), second.databaseAsked());
        } finally {
            pool.dispose();
        }
    }

    private static void show(PrintStream out, String what, Outcome<String> outcome) {
        out.printf("%-30s %s: %s%n", what, outcome, outcome.response());
    }
}
