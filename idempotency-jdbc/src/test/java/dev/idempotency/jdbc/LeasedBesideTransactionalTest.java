package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** S1: the two modes of the library's table, on one table and with the same keys. */
@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
class LeasedBesideTransactionalTest {

    @AutoClose
    private final LeaseTable table;

    private final RecordStore<String> transactional;
    private final Request request = request("m1");
    private final ExecutorService threads = Executors.newCachedThreadPool();

    LeasedBesideTransactionalTest(TestDatabase database) {
        table = new LeaseTable(database);
        transactional = JdbcStores.transactional(table.jdbi, Codec.utf8());
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private Outcome<String> send(IdempotencyStore<Handle, String> store, Request sent, String response) {
        return store.execute(sent, handle -> response, (n, o, r) -> {});
    }

    @Test
    @DisplayName("A record whose lease lasts is in progress to a transactional store, for as long as the lease does")
    void leaseLasts_isInProgressForIt() {
        Holder holder = table.hold(request);
        Request both = request.and(businessKey("b1"));

        assertThat(send(transactional, both, "no")).isInstanceOfSatisfying(InProgress.class, refused -> {
            assertThat(refused.key()).isEqualTo(messageKey("m1"));
            assertThat(refused.retryAfter()).isBetween(LEASE.minusMinutes(1), LEASE);
        });
        Outcome<String> joined = table.jdbi.inTransaction(handle -> send(transactional.joining(handle), both, "no"));
        assertThat(joined).isInstanceOf(InProgress.class);
        assertThat(table.count()).as("no name was added").isEqualTo(1);

        assertThat(holder.complete("by the holder")).isTrue();
        assertThat(send(transactional, both, "no"))
                .isEqualTo(new Replayed<>("by the holder", messageKey("m1"), Source.STORE));
        assertThat(table.column("token", businessKey("b1")))
                .as("token of the new name")
                .isEqualTo(holder.granted().token());
    }

    @Test
    @DisplayName(
            "A record whose lease is over is in progress to a transactional store, until a leased one takes it over")
    void leaseOver_isInProgressUntilItIsTakenOver() {
        table.hold(request);
        table.pass(LEASE);

        assertThat(send(transactional, request, "no"))
                .isEqualTo(new InProgress<>(messageKey("m1"), Duration.ofSeconds(1)));
        assertThat(answer(table.store(), request, "taken over")).isEqualTo(new Executed<>("taken over"));
        assertThat(send(transactional, request, "no").response()).isEqualTo("taken over");
    }

    @Test
    @DisplayName("A claim waits for a transactional call that is under way, and replays what it has committed")
    void transactionalCallUnderWay_claimReplays() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<Outcome<String>> first = threads.submit(() -> transactional.<InterruptedException>execute(
                request,
                handle -> {
                    inside.countDown();
                    go.await();
                    return "ok";
                },
                (n, o, r) -> {}));
        inside.await();
        Future<Outcome<String>> claim = threads.submit(() -> untilAnswered(() -> answer(table.store(), request, "no")));
        go.countDown();

        assertThat(first.get()).isEqualTo(new Executed<>("ok"));
        assertThat(claim.get()).isEqualTo(new Replayed<>("ok", messageKey("m1"), Source.STORE));
    }

    @Test
    @DisplayName("Six threads in both modes send the same few keys: each is executed once, and all get its response")
    void stormOfBothModes_executesOnce() throws Exception {
        IdempotencyStore<Lease, String> leased = table.store();
        Map<String, Integer> executions = new ConcurrentHashMap<>();
        Map<String, String> responses = new ConcurrentHashMap<>();
        List<Future<?>> calls = new ArrayList<>();
        for (int t = 0; t < 6; t++) {
            int thread = t;
            calls.add(threads.submit(() -> {
                for (int i = 0; i < 40; i++) {
                    String id = "m" + i;
                    String response = thread + "." + i;
                    Outcome<String> outcome = untilAnswered(() -> thread % 2 == 0
                            ? answer(leased, request(id), response)
                            : send(transactional, request(id), response));
                    executions.merge(id, outcome instanceof Executed ? 1 : 0, Integer::sum);
                    assertThat(responses.merge(id, outcome.response(), (one, other) -> one))
                            .isEqualTo(outcome.response());
                }
            }));
        }
        for (Future<?> call : calls) {
            call.get();
        }
        assertThat(executions)
                .hasSize(40)
                .allSatisfy((id, count) -> assertThat(count).as(id).isEqualTo(1));
    }

    private static Outcome<String> untilAnswered(Supplier<Outcome<String>> call) {
        while (true) {
            try {
                Outcome<String> outcome = call.get();
                if (!(outcome instanceof InProgress)) {
                    return outcome;
                }
            } catch (RetryableException e) {
                // Sent again.
            }
        }
    }
}
