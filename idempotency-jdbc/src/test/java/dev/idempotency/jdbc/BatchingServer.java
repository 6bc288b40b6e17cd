package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;

import dev.idempotency.BatchException;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * One of several servers that send batches of the same messages, each in an order of its own: prints for each business ID, of
 * which there is one for every two messages, what it was answered.
 */
final class BatchingServer {

    private static final int THREADS = 4;
    private static final int SIZE = 20;

    private BatchingServer() {}

    /** URL, mode, number of the server, batches of each thread, messages. */
    public static void main(String[] args) throws InterruptedException {
        Jdbi jdbi = Jdbi.create(args[0]);
        JdbcStore<String> store = args[1].equals("YOUR_TABLE")
                ? JdbcStores.yourTable(jdbi, Messages::find)
                : JdbcStores.transactional(jdbi, Codec.utf8());
        Idempotency<Handle, String> sends = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        ChildJvm.awaitGo();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            String name = args[2] + "-" + t;
            Random random = new Random(name.hashCode());
            Thread thread = new Thread(
                    () -> sendAll(sends, name, Integer.parseInt(args[3]), Integer.parseInt(args[4]), random));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void sendAll(
            Idempotency<Handle, String> sends, String name, int batches, int messages, Random random) {
        for (int b = 0; b < batches; b++) {
            List<Integer> batch = new ArrayList<>();
            for (int i = 0; i < SIZE; i++) {
                // The front moves on, so that all want the same new messages at about the same time.
                int front = SIZE + (messages - SIZE) * b / batches;
                batch.add(Math.floorMod(front - random.nextInt(2 * SIZE), messages));
            }
            send(sends, name, batch);
        }
    }

    private static void send(Idempotency<Handle, String> sends, String name, List<Integer> batch) {
        List<Integer> open = batch;
        while (!open.isEmpty()) {
            List<Request> requests = open.stream()
                    .map(i -> request("m" + i).and(businessKey("b" + i / 2)))
                    .toList();
            List<? extends Outcome<?>> outcomes;
            try {
                outcomes = sends.executeAll(requests, (handle, given) -> {
                    Map<Request, String> answers = new HashMap<>();
                    given.forEach(each -> answers.put(
                            each,
                            insert(handle, each, name + " " + each.keys().get(1).id())));
                    return answers;
                });
            } catch (BatchException partly) {
                outcomes = partly.outcomes();
            } catch (RetryableException e) {
                continue;
            }
            List<Integer> unanswered = new ArrayList<>();
            for (int i = 0; i < open.size(); i++) {
                Outcome<?> outcome = outcomes.get(i);
                if (outcome == null || outcome instanceof Outcome.InProgress) {
                    unanswered.add(open.get(i));
                } else {
                    String kind = outcome instanceof Executed ? "executed" : "replayed";
                    System.out.println(kind + " b" + open.get(i) / 2 + ": " + outcome.response());
                }
            }
            open = unanswered;
        }
    }
}
