package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.request;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.testkit.ChildJvm;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * One of several servers in a race for leases: prints for each message what it was answered. Some holders fail before their
 * effect, and some after it, whose leases then end at once.
 */
final class LeasingServer {

    private LeasingServer() {}

    private static final class ActionFailed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    public static void main(String[] args) throws InterruptedException {
        Messages messages = new Messages(args[0]);
        LeaseOptions options = LeaseOptions.defaults().lease(Duration.ofMinutes(5));
        List<Idempotency<Lease, String>> services = new ArrayList<>();
        for (Duration wait : List.of(Duration.ZERO, Duration.ofSeconds(2))) {
            services.add(Idempotency.with(JdbcStores.leased(messages.jdbi, Codec.utf8(), options.waitAtMost(wait)))
                    .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                    .build());
        }
        ChildJvm.awaitGo();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Random random = new Random(Integer.parseInt(args[1]) * 10L + t);
            Idempotency<Lease, String> service = services.get(t % 2);
            Thread thread = new Thread(() -> sendAll(messages, service, Integer.parseInt(args[2]), random));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void sendAll(Messages messages, Idempotency<Lease, String> service, int count, Random random) {
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
            Outcome<String> outcome = answered(messages, service, request, i, random);
            System.out.println(
                    (outcome instanceof Executed ? "executed m" : "replayed m") + i + ": " + outcome.response());
        }
    }

    private static Outcome<String> answered(
            Messages messages, Idempotency<Lease, String> service, Request request, int i, Random random) {
        while (true) {
            try {
                Outcome<String> outcome = service.execute(request, lease -> act(messages, lease, request, i, random));
                if (!(outcome instanceof InProgress)) {
                    return outcome;
                }
            } catch (RetryableException | ActionFailed e) {
                // Sent again, by this server or another one.
            }
        }
    }

    private static String act(Messages messages, Lease lease, Request request, int i, Random random) {
        int fate = random.nextInt(10);
        if (fate == 0) {
            throw new ActionFailed();
        }
        lease.effectStarts();
        messages.jdbi.useHandle(handle ->
                handle.execute("insert into effect values (?, ?, ?)", i, lease.token(), lease.takenOver() ? 1 : 0));
        if (fate == 1) {
            for (IdempotencyKey key : request.keysInByteOrder()) {
                messages.jdbi.useHandle(handle -> handle.execute(
                        "update idempotency_record set lease_until = 1 where token = ? and idempotency_key = ?",
                        lease.token(),
                        key.toBytes()));
            }
            throw new ActionFailed();
        }
        return "token " + lease.token();
    }
}
