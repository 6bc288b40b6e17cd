package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.BatchAction;
import dev.idempotency.BatchException;
import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.testkit.faults.Fault;
import dev.idempotency.window.CaffeineWindow;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many requests in one call. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class BatchTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    private final TestDatabase database;
    private final Messages messages;
    private final List<List<Request>> ran = new ArrayList<>();

    BatchTest(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
    }

    private JdbcStore<String> store(Mode mode) {
        return mode == Mode.YOUR_TABLE ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    private Idempotency<Handle, String> sends(JdbcStore<String> store) {
        return Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
    }

    /** Inserts each, and answers with the body and how often it has run. */
    private BatchAction<Handle, String, RuntimeException> inserting(String body) {
        return (handle, requests) -> {
            ran.add(requests);
            Map<Request, String> answers = new LinkedHashMap<>();
            for (Request request : requests) {
                answers.put(request, Messages.insert(handle, request, body));
            }
            return answers;
        };
    }

    private static List<Request> requests(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> request("m" + i)).toList();
    }

    private static Outcome<String> replayed(IdempotencyKey key, String body) {
        return new Replayed<>(body, key, Source.STORE);
    }

    @ParameterizedTest
    @EnumSource
    void allNew_areExecutedInOneTransaction(Mode mode) {
        Idempotency<Handle, String> sends = sends(store(mode));
        messages.dataSource.forget();

        assertThat(sends.executeAll(requests(0, 20), inserting("ok")))
                .hasSize(20)
                .allMatch(new Executed<>("ok")::equals);

        assertThat(messages.rows()).isEqualTo(20);
        assertThat(ran).hasSize(1);
        assertThat(messages.dataSource.calls()).containsOnlyOnce("commit");
        assertThat(messages.dataSource.mostConnections()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("What the window knows is answered from it; a batch of nothing else takes no connection")
    void allInWindow_takeNoConnection(Mode mode) {
        Idempotency<Handle, String> sends = sends(store(mode));
        sends.executeAll(requests(0, 3), inserting("ok"));
        messages.dataSource.forget();

        assertThat(sends.executeAll(requests(0, 3), inserting("no")))
                .allSatisfy(outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(
                                Replayed.class, r -> assertThat(r.source()).isEqualTo(Source.WINDOW)));

        assertThat(messages.dataSource.mostConnections()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Repeats that the store knows are read in one go, and the rest is executed, each in its place")
    void someStored_areReplayed_theRestExecutes(Mode mode) {
        JdbcStore<String> store = store(mode);
        sends(store).executeAll(List.of(request("m1"), request("m3")), inserting("first"));
        ran.clear();

        assertThat(sends(store).executeAll(requests(0, 5), inserting("second")))
                .containsExactly(
                        new Executed<>("second"),
                        replayed(messageKey("m1"), "first"),
                        new Executed<>("second"),
                        replayed(messageKey("m3"), "first"),
                        new Executed<>("second"));

        assertThat(messages.rows()).isEqualTo(5);
        assertThat(ran.get(ran.size() - 1)).containsExactly(request("m0"), request("m2"), request("m4"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("W-7: duplicates inside the batch are one execution, each by its own fingerprint")
    void duplicatesInside_areOneExecution(Mode mode) {
        Request one = request("m1").fingerprint(Fingerprint.sha256("one"));
        Request other = request("m1").fingerprint(Fingerprint.sha256("other"));

        assertThat(sends(store(mode)).executeAll(List.of(one, one, other, request("m1")), inserting("ok")))
                .containsExactly(
                        new Executed<>("ok"),
                        replayed(messageKey("m1"), "ok"),
                        new Mismatch<>(messageKey("m1")),
                        replayed(messageKey("m1"), "ok"));

        assertThat(messages.rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-8: in one batch (m1,b1), (m2,b2), then (m3,b1) replays the first and (m1,b2) is a conflict")
    void twoLayersInside_meetTheirOriginals(Mode mode) {
        Request first = request("m1").and(businessKey("b1"));
        Request second = request("m2").and(businessKey("b2"));
        Request retry = request("m3").and(businessKey("b1"));
        Request crossed = request("m1").and(businessKey("b2"));

        assertThat(sends(store(mode)).executeAll(List.of(first, second, retry, crossed), inserting("ok")))
                .containsExactly(
                        new Executed<>("ok"),
                        new Executed<>("ok"),
                        replayed(businessKey("b1"), "ok"),
                        new Conflict<>(crossed.keys()));

        assertThat(messages.rows()).isEqualTo(2);
    }

    @Test
    @DisplayName("S8: in the library's table a new key met in a batch becomes a name of the original")
    void newNameInBatch_isRecorded() {
        JdbcStore<String> store = store(Mode.TRANSACTIONAL);
        Request first = request("m1").and(businessKey("b1"));
        Request retry = request("m2").and(businessKey("b1"));
        sends(store).execute(first, Messages.insert(first, "ok"));

        assertThat(sends(store).executeAll(List.of(request("m0"), retry), inserting("new")))
                .containsExactly(new Executed<>("new"), replayed(businessKey("b1"), "ok"));

        assertThat(sends(store).execute(request("m2"), Messages.insert(request("m2"), "no")))
                .isEqualTo(replayed(messageKey("m2"), "ok"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2: an action that throws leaves nothing of the batch behind, and the next one executes")
    void actionThrows_nothingIsStored(Mode mode) {
        JdbcStore<String> store = store(mode);
        IllegalStateException failure = new IllegalStateException("action");

        assertThatThrownBy(() -> sends(store).executeAll(requests(0, 3), (handle, requests) -> {
                    inserting("half").run(handle, requests.subList(0, 2));
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(messages.rows()).isZero();
        assertThat(sends(store).executeAll(requests(0, 3), inserting("ok"))).allMatch(new Executed<>("ok")::equals);
    }

    @Test
    @DisplayName("Rows that ON CONFLICT DO NOTHING passed over are read, and the others are stored by the same commit")
    void leftOut_isReplayed_withoutARollback() {
        assumeTrue(database.name().startsWith("POSTGRESQL"), "says ON CONFLICT DO NOTHING");
        JdbcStore<String> store = store(Mode.YOUR_TABLE);
        sends(store).executeAll(requests(1, 2), inserting("first"));
        messages.dataSource.forget();

        assertThat(sends(store).executeAll(requests(0, 3), BatchTest::insertUnlessThere))
                .containsExactly(
                        new Executed<>("second"), replayed(messageKey("m1"), "first"), new Executed<>("second"));

        assertThat(messages.dataSource.calls()).containsOnlyOnce("commit").doesNotContain("rollback");
    }

    private static Map<Request, String> insertUnlessThere(Handle handle, List<Request> requests) {
        Map<Request, String> stored = new LinkedHashMap<>();
        for (Request request : requests) {
            int rows = handle.execute(
                    "insert into message (sender, message_id, body) values (?, ?, 'second') on conflict do nothing",
                    request.keys().get(0).scope(),
                    request.keys().get(0).id());
            if (rows == 1) {
                stored.put(request, "second");
            }
        }
        return stored;
    }

    @Test
    @DisplayName("S3: what an action leaves out twice and no finder finds is an error, and the rest is told")
    void leftOutAndNotFound_isTold() {
        Idempotency<Handle, String> sends = sends(store(Mode.YOUR_TABLE));

        assertThatThrownBy(() -> sends.executeAll(
                        requests(0, 3),
                        (handle, requests) -> inserting("ok")
                                .run(
                                        handle,
                                        requests.stream()
                                                .filter(request -> !request.equals(request("m1")))
                                                .toList())))
                .isInstanceOfSatisfying(
                        BatchException.class,
                        partly -> assertThat(partly.outcomes())
                                .containsExactly(new Executed<>("ok"), null, new Executed<>("ok")));

        assertThat(messages.rows()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S3: another constraint than a key's comes back unchanged, with nothing stored")
    void otherConstraint_isThrownUnchanged(Mode mode) {
        Request original = request("m9").and(businessKey("b9"));
        sends(store(Mode.YOUR_TABLE)).execute(original, Messages.insert(original, "there"));

        assertThatThrownBy(() -> sends(store(mode)).executeAll(requests(0, 3), (handle, requests) -> {
                    handle.execute("insert into message (sender, message_id, body) values ('ana', 'm9', 'twice')");
                    return inserting("ok").run(handle, requests);
                }))
                .isInstanceOf(org.jdbi.v3.core.statement.UnableToExecuteStatementException.class);

        assertThat(messages.rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S4: a batch whose commit is not acknowledged is unknown, publishes nothing, and a retry finds out")
    void commitNotAcknowledged_isUnknown_retryReplays(Mode mode) {
        Idempotency<Handle, String> sends = sends(store(mode));
        messages.dataSource.fault(Fault.after("commit"::equals, new SQLException("gone", "08006")));

        assertThatThrownBy(() -> sends.executeAll(requests(0, 3), inserting("ok")))
                .isInstanceOf(OutcomeUnknownException.class);
        messages.dataSource.fault(Fault.none());

        assertThat(sends.window().get(messageKey("m1"))).isNull();
        assertThat(sends.executeAll(requests(0, 3), inserting("no")))
                .containsExactly(
                        replayed(messageKey("m0"), "ok"),
                        replayed(messageKey("m1"), "ok"),
                        replayed(messageKey("m2"), "ok"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-10: a batch inside the caller's transaction goes one by one, and is undone with it")
    void joinedBatch_belongsToTheCaller(Mode mode) {
        JdbcStore<String> store = store(mode);
        Idempotency<Handle, String> sends = sends(store);
        sends.executeAll(requests(1, 2), inserting("first"));

        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThat(sends.using(store.joining(handle)).executeAll(requests(0, 3), inserting("second")))
                    .hasSize(3)
                    .satisfies(
                            outcomes -> assertThat(outcomes.get(1).response()).isEqualTo("first"));
            handle.rollback();
        });

        assertThat(messages.rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A call inside the action with a key of the batch is in progress, and the batch goes on")
    void keyOfTheBatchInsideItsAction_isInProgress(Mode mode) {
        Idempotency<Handle, String> sends = sends(store(mode));
        List<Outcome<String>> inside = new ArrayList<>();

        sends.executeAll(requests(0, 2), (handle, requests) -> {
            inside.addAll(sends.executeAll(List.of(request("m1")), inserting("inner")));
            return inserting("ok").run(handle, requests);
        });

        assertThat(inside).hasSize(1).first().isInstanceOf(InProgress.class);
        assertThat(messages.rows()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("J-3, S1: batches that overlap in both orders, by many threads: each key once, and no deadlock")
    void overlappingBatches_storeEachKeyOnce(Mode mode) throws Exception {
        int threads = 6;
        JdbcStore<String> one = store(mode);
        // Two stores, as of two processes: their gates don't know of each other.
        List<JdbcStore<String>> stores = List.of(one, store(mode));
        CyclicBarrier together = new CyclicBarrier(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<List<Outcome<String>>>> answers = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                List<Request> batch = new ArrayList<>(requests(t * 5, t * 5 + 25));
                if (t % 2 == 1) {
                    java.util.Collections.reverse(batch);
                }
                answers.add(pool.submit(() -> {
                    together.await();
                    return sends(stores.get(thread % 2)).executeAll(batch, sorted("by " + thread));
                }));
            }
            Map<String, Integer> executed = new LinkedHashMap<>();
            for (Future<List<Outcome<String>>> each : answers) {
                for (Outcome<String> outcome : each.get()) {
                    if (outcome instanceof Executed<String> e) {
                        executed.merge(e.response(), 1, Integer::sum);
                    }
                }
            }
            assertThat(executed.values().stream().mapToInt(Integer::intValue).sum())
                    .isEqualTo(messages.rows())
                    .isEqualTo(5 * (threads - 1) + 25);
        } finally {
            pool.shutdownNow();
        }
    }

    /** Inserts in the order of the keys, as an action should that may meet another one. */
    private static BatchAction<Handle, String, RuntimeException> sorted(String body) {
        return (handle, requests) -> {
            Map<Request, String> answers = new LinkedHashMap<>();
            requests.stream()
                    .sorted(java.util.Comparator.comparing(
                            (Request r) -> r.keys().get(0)))
                    .forEach(request -> answers.put(request, Messages.insert(handle, request, body)));
            return answers;
        };
    }

    @Test
    void emptyBatch_isAnsweredWithNothing() {
        Idempotency<Handle, String> sends = sends(store(Mode.YOUR_TABLE));
        messages.dataSource.forget();
        assertThat(sends.executeAll(List.of(), inserting("no"))).isEmpty();
        assertThat(messages.dataSource.mostConnections()).isZero();
    }
}
