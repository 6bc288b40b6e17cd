package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.RetryTransactionException;
import dev.idempotency.UnreadableRecordException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches whose action, requests or surroundings are awkward. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class AwkwardBatchTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    private final TestDatabase database;
    private final Messages messages;

    AwkwardBatchTest(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
    }

    private JdbcStore<String> store(Mode mode) {
        return mode == Mode.YOUR_TABLE ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    private static BatchAction<Handle, String, RuntimeException> inserting(String body) {
        return (handle, requests) -> {
            Map<Request, String> answers = new HashMap<>();
            requests.forEach(each -> answers.put(each, insertOne(handle, each, body)));
            return answers;
        };
    }

    /** A request with a business key alone makes a row that has no message ID of a sender's. */
    private static String insertOne(Handle handle, Request each, String body) {
        IdempotencyKey first = each.keys().get(0);
        if (first.namespace().equals("im")) {
            return insert(handle, each, body);
        }
        handle.execute(
                "insert into message (sender, message_id, origin, business_id, body) values ('none', ?, ?, ?, ?)",
                first.id(),
                first.scope(),
                first.id(),
                body);
        return body;
    }

    @Test
    @DisplayName("S8: on an own table a request is not answered by a name that its batch's first one could not add")
    void nameThatIsNotRecorded_executes() {
        Idempotency<Handle, String> sends =
                Idempotency.with(store(Mode.YOUR_TABLE)).build();
        sends.execute(request("m1"), insert(request("m1"), "first"));
        Request repeat = request("m1").and(businessKey("b1"));
        Request business = Request.of(businessKey("b1"));

        assertThat(sends.executeAll(List.of(repeat, business), inserting("second")))
                .containsExactly(new Replayed<>("first", messageKey("m1"), Source.STORE), new Executed<>("second"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A batch inside a batch fails in part: its outcomes are not those of the one around it")
    void batchInsideFailsInPart_isNotTakenForTheOuter(Mode mode) {
        JdbcStore<String> store = store(mode);
        Idempotency<Handle, String> sends = Idempotency.with(store).build();
        BatchAction<Handle, String, RuntimeException> failing = (handle, requests) -> {
            if (requests.contains(request("i2"))) {
                throw new IllegalStateException("inner");
            }
            return inserting("inner").run(handle, requests);
        };

        assertThatThrownBy(() -> sends.executeAll(List.of(request("o1"), request("o2")), (handle, requests) -> {
                    sends.using(store.joining(handle)).executeAll(List.of(request("i1"), request("i2")), failing);
                    return inserting("outer").run(handle, requests);
                }))
                .isInstanceOfSatisfying(
                        BatchException.class,
                        partly -> assertThat(partly.outcomes()).containsExactly(null, null));

        assertThat(messages.rows()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S5, S6: a joined batch whose transaction has to be run again says so, and not that a part is done")
    void joinedAboveReadCommitted_isRetryTransaction(Mode mode) {
        assumeFalse(database == TestDatabase.MARIADB, "its locking read shows the original");
        JdbcStore<String> store = store(mode);
        messages.jdbi.useHandle(handle -> {
            handle.setTransactionIsolationLevel(TransactionIsolationLevel.REPEATABLE_READ);
            handle.begin();
            handle.createQuery("select count(*) from message")
                    .mapTo(Integer.class)
                    .one();
            if (mode == Mode.TRANSACTIONAL) {
                handle.createQuery("select count(*) from idempotency_record")
                        .mapTo(Integer.class)
                        .one();
            }
            store.execute(request("m2"), insert(request("m2"), "first"), (n, o, r) -> {});

            assertThatThrownBy(() -> Idempotency.with(store.joining(handle))
                            .build()
                            .executeAll(List.of(request("m1"), request("m2")), inserting("second")))
                    .isInstanceOf(RetryTransactionException.class);
            handle.rollback();
        });
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "S12: a large response is not added to a statement that nearly is at its bound, and so fits as it does alone")
    void largeResponses_goInStatementsOfTheirOwn() {
        Idempotency<Handle, String> sends =
                Idempotency.with(store(Mode.TRANSACTIONAL)).build();
        Map<Request, String> answers =
                Map.of(request("m1"), "s".repeat(1_000_000), request("m2"), "l".repeat(2_000_000));
        messages.dataSource.forget();

        assertThat(sends.executeAll(List.of(request("m1"), request("m2")), (handle, given) -> answers))
                .allMatch(Executed.class::isInstance);

        assertThat(messages.dataSource.calls())
                .filteredOn(call -> call.startsWith("INSERT"))
                .hasSize(2);
    }

    @Test
    @DisplayName("S12: a record that can't be read fails its own request, and not what came with it")
    void unreadableRecord_leavesTheOthersTheirOutcome() {
        Idempotency<Handle, String> sends =
                Idempotency.with(store(Mode.TRANSACTIONAL)).build();
        sends.execute(request("m1"), handle -> "damaged");
        sends.execute(request("m2"), handle -> "first");
        messages.jdbi.useHandle(handle -> handle.execute(
                "update idempotency_record set response = ? where idempotency_key = ?",
                new byte[] {99},
                messageKey("m1").toBytes()));

        assertThatThrownBy(() -> sends.executeAll(
                        List.of(request("m0"), request("m1"), request("m2"), request("m3")), inserting("second")))
                .hasCauseInstanceOf(UnreadableRecordException.class)
                .isInstanceOfSatisfying(
                        BatchException.class,
                        partly -> assertThat(partly.outcomes())
                                .containsExactly(
                                        new Executed<>("second"),
                                        null,
                                        new Replayed<>("first", messageKey("m2"), Source.STORE),
                                        new Executed<>("second")));

        assertThat(messages.rows()).isEqualTo(2);
    }

    @Test
    @DisplayName("J-14: an action that was interrupted is not run again beside a repeat")
    void interruptedAction_isThrown() {
        Idempotency<Handle, String> sends =
                Idempotency.with(store(Mode.TRANSACTIONAL)).build();
        sends.execute(request("m1"), insert(request("m1"), "first"));
        InterruptedException interrupted = new InterruptedException();
        List<List<Request>> ran = new ArrayList<>();

        assertThatThrownBy(() -> sends.executeAll(List.of(request("m0"), request("m1")), (handle, requests) -> {
                    ran.add(requests);
                    if (ran.size() == 1) {
                        throw interrupted;
                    }
                    return inserting("second").run(handle, requests);
                }))
                .isSameAs(interrupted);
    }

    @Test
    @DisplayName(
            "A repeat in a batch is found although the action has swallowed its violation, which aborts on PostgreSQL")
    void swallowedViolation_ofARepeat_isReplayed() {
        assumeTrue(database.name().startsWith("POSTGRESQL"), "an error aborts the transaction");
        Idempotency<Handle, String> sends =
                Idempotency.with(store(Mode.TRANSACTIONAL)).build();
        sends.execute(request("m1"), insert(request("m1"), "first"));

        assertThat(sends.executeAll(List.of(request("m0"), request("m1")), (handle, requests) -> {
                    Map<Request, String> answers = new LinkedHashMap<>();
                    for (Request each : requests) {
                        answers.put(each, "second");
                        try {
                            insert(handle, each, "second");
                        } catch (org.jdbi.v3.core.JdbiException e) {
                            // As a service might that thinks its own constraint is enough.
                        }
                    }
                    return answers;
                }))
                .containsExactly(new Executed<>("second"), new Replayed<>("first", messageKey("m1"), Source.STORE));
    }

    @ParameterizedTest
    @EnumSource
    void fiveThousandRequestsOfTwoKeys_areExecutedThenReplayed(Mode mode) {
        Idempotency<Handle, String> sends = Idempotency.with(store(mode)).build();
        List<Request> requests = IntStream.range(0, 5000)
                .mapToObj(i -> request("m" + i).and(businessKey("b" + (4999 - i))))
                .toList();
        List<Outcome<String>> first = sends.executeAll(
                requests,
                mode == Mode.TRANSACTIONAL
                        ? (h, given) -> {
                            Map<Request, String> answers = new HashMap<>();
                            given.forEach(each -> answers.put(each, "ok"));
                            return answers;
                        }
                        : inserting("ok"));
        List<Outcome<String>> again = sends.executeAll(requests, inserting("no"));
        assertThat(first).hasSize(5000).allMatch(new Executed<>("ok")::equals);
        assertThat(again).hasSize(5000).allMatch(Replayed.class::isInstance);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("K-1: null is an answer, in any order")
    @SuppressWarnings("NullAway")
    void nullResponses_areStored(Mode mode) {
        assumeTrue(mode == Mode.TRANSACTIONAL);
        Idempotency<Handle, String> sends = Idempotency.with(store(mode)).build();
        List<Request> requests = List.of(request("m1"), request("m2"), request("m1"));
        Map<Request, String> answers = new LinkedHashMap<>();
        answers.put(request("m2"), null);
        answers.put(request("m1"), "one");
        assertThat(sends.executeAll(requests, (handle, given) -> answers))
                .containsExactly(
                        new Executed<>("one"),
                        new Executed<>(null),
                        new Replayed<>("one", messageKey("m1"), Source.STORE));
        assertThat(sends.executeAll(requests, (handle, given) -> answers))
                .extracting(Outcome::response)
                .containsExactly("one", null, "one");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S14: a batch waits once for a key that is held, however many of its requests have it")
    void manyDuplicatesOfAHeldKey_waitOnce(Mode mode) throws Exception {
        JdbcStore<String> store = mode == Mode.YOUR_TABLE
                ? JdbcStores.yourTable(
                        messages.jdbi,
                        Messages::find,
                        YourTableOptions.defaults().waitAtMost(Duration.ofMillis(500)))
                : JdbcStores.transactional(
                        messages.jdbi,
                        Codec.utf8(),
                        RecordTableOptions.defaults().waitAtMost(Duration.ofMillis(500)));
        Idempotency<Handle, String> sends = Idempotency.with(store).build();
        List<Request> batch = new ArrayList<>(Collections.nCopies(200, request("m1")));
        batch.add(request("m2"));
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            sends.execute(request("m1"), handle -> {
                // From another thread, as a call inside its own action would not wait at all.
                List<Outcome<String>> outcomes = get(pool.submit(() -> sends.executeAll(batch, inserting("ok"))));
                assertThat(outcomes.subList(0, 200)).allMatch(InProgress.class::isInstance);
                assertThat(outcomes.get(200)).isEqualTo(new Executed<>("ok"));
                return insert(handle, request("m1"), "held");
            });
        } finally {
            pool.shutdownNow();
        }
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get(30, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }
}
