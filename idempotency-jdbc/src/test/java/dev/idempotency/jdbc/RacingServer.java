package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.testkit.ChildJvm;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jdbi.v3.core.Handle;

/** One of several servers in a race for the same messages: prints for each what it was answered. */
final class RacingServer {

    private RacingServer() {}

    public static void main(String[] args) throws InterruptedException {
        Messages messages = new Messages(args[0]);
        JdbcStore<String> store =
                args[1].equals("YOUR_TABLE") ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
        Idempotency<Handle, String> sends = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        String server = args[2];
        ChildJvm.awaitGo();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Random random = new Random(Integer.parseInt(server) * 10L + t);
            Thread thread = new Thread(() -> sendAll(sends, server, Integer.parseInt(args[3]), random));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void sendAll(Idempotency<Handle, String> sends, String server, int count, Random random) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            order.add(i);
        }
        // Near to the order of the others, so that all want the same keys at about the same time.
        for (int i = 0; i + 5 < count; i += 5) {
            Collections.shuffle(order.subList(i, i + 5), random);
        }
        for (int i : order) {
            Request request = i % 2 == 0 ? request("m" + i) : request("m" + i).and(businessKey("b" + i));
            Outcome<String> outcome = answered(sends, request, "m" + i + " by " + server);
            String kind = outcome instanceof Executed ? "executed" : "replayed";
            System.out.println(kind + " m" + i + ": " + outcome.response());
        }
    }

    private static Outcome<String> answered(Idempotency<Handle, String> sends, Request request, String body) {
        while (true) {
            try {
                return sends.execute(request, insert(request, body));
            } catch (RetryableException e) {
                // What it says: nothing was stored, call again.
            }
        }
    }
}
