package dev.idempotency.examples;

import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyListener;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.redis.RedisStores;
import dev.idempotency.store.Lease;
import dev.idempotency.window.CaffeineWindow;
import java.io.PrintStream;
import java.time.Duration;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * A service that takes payments and has no database: Redis alone remembers which ones it has taken. Start a Redis, run it
 * twice: the second run replays all.
 */
public final class RedisAlone {

    private final Idempotency<Lease, String> payments;

    RedisAlone(UnifiedJedis client, PrintStream out) {
        payments = Idempotency.with(RedisStores.leased(client, Codec.utf8()))
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .listener(new IdempotencyListener() {
                    @Override
                    public void warned(String warning) {
                        out.println("warning: " + warning);
                    }
                })
                .build();
    }

    Outcome<String> pay(String shop, String paymentId, int cents) {
        return payments.execute(
                Request.of(IdempotencyKey.of("payment", shop, paymentId))
                        .fingerprint(Fingerprint.sha256(Integer.toString(cents))),
                lease -> {
                    lease.effectStarts(); // from here on, a failure may mean that it was paid
                    return charge(cents, lease.token());
                });
    }

    /** In place of a bank, which is told the token: it refuses one that is smaller than the last. */
    private static String charge(int cents, long token) {
        return "paid " + cents + " cents with token " + token;
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
        try (RedisClient client = RedisClient.create(host, port)) {
            RedisAlone service = new RedisAlone(client, out);
            show(out, "a payment", service.pay("shop-1", "p-1", 499));
            show(out, "its resend", service.pay("shop-1", "p-1", 499));
            show(out, "the same ID of another shop", service.pay("shop-2", "p-1", 1250));
            show(out, "a resend to another server", new RedisAlone(client, out).pay("shop-1", "p-1", 499));
        }
    }

    private static void show(PrintStream out, String what, Outcome<String> outcome) {
        out.printf("%-30s %s: %s%n", what, outcome, outcome.response());
    }
}
