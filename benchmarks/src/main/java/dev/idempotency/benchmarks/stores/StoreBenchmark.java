package dev.idempotency.benchmarks.stores;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Ways to store a message, by the library and by hand. Run by {@link StoreSpeed}, which sets the service up. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class StoreBenchmark {

    /** Messages in a batch. */
    static final int BATCH = 100;

    /** What all benchmarks of a run work on: JMH makes this class, and so can't be told. */
    static volatile @Nullable Service current;

    private static Service service() {
        Service service = current;
        if (service == null) {
            throw new IllegalStateException("run it by StoreSpeed");
        }
        return service;
    }

    /** First, by hand: insert and commit. */
    @Benchmark
    public String byHandTransaction() throws SQLException {
        return service().byHand.transaction(Message.fresh());
    }

    /** First, by hand: one insert in autocommit mode. */
    @Benchmark
    public String byHandAutocommit() throws SQLException {
        return service().byHand.autocommit(Message.fresh());
    }

    /** First, by hand: the same in a handle of Jdbi. */
    @Benchmark
    public String byHandHandle() throws SQLException {
        return service().byHand.handle(Message.fresh());
    }

    /** First, by hand: a key table of its own. */
    @Benchmark
    public String byHandClaimFirst() throws SQLException {
        return service().byHand.claimFirst(Message.fresh());
    }

    /** Repeat, by hand: a refused insert, a rollback, one read. */
    @Benchmark
    public String byHandRepeat() throws SQLException {
        return service().byHand.repeat(Message.repeated());
    }

    /** A batch, by hand: one insert of many rows. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int byHandBatch() throws SQLException {
        Service service = service();
        return service.byHand.batch(fresh(), service.doNothing);
    }

    /** A batch, by hand, with a key table of its own: two inserts of many rows. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int byHandBatchWithKeys() throws SQLException {
        return service().byHand.batchWithKeys(fresh());
    }

    /** First, on the own table, any action. */
    @Benchmark
    public Outcome<String> ownTable() throws SQLException {
        Message message = Message.fresh();
        return executed(service().ownTable.execute(message.request(), MessageTable.insert(message)));
    }

    /** First, on the own table, an action that is one statement. */
    @Benchmark
    public Outcome<String> ownTableSingleStatement() throws SQLException {
        Message message = Message.fresh();
        return executed(service().singleStatement.execute(message.request(), MessageTable.insert(message)));
    }

    /** First, with the library's table: claim, action, completion. */
    @Benchmark
    public Outcome<String> transactional() throws SQLException {
        Message message = Message.fresh();
        return executed(service().transactional.execute(message.request(), MessageTable.insert(message)));
    }

    /** First, with the library's table: action, then key and response. */
    @Benchmark
    public Outcome<String> transactionalActionFirst() throws SQLException {
        Message message = Message.fresh();
        return executed(service().actionFirst.execute(message.request(), MessageTable.insert(message)));
    }

    /** Repeat from the store, on the own table. */
    @Benchmark
    public Outcome<String> ownTableRepeat() throws SQLException {
        Message message = Message.repeated();
        return replayed(service().ownTable.execute(message.request(), MessageTable.insert(message)));
    }

    /** Repeat from the store, on the own table, an action that is one statement. */
    @Benchmark
    public Outcome<String> ownTableSingleStatementRepeat() throws SQLException {
        Message message = Message.repeated();
        return replayed(service().singleStatement.execute(message.request(), MessageTable.insert(message)));
    }

    /** Repeat from the store, with the library's table, keys first. */
    @Benchmark
    public Outcome<String> transactionalRepeat() throws SQLException {
        Message message = Message.repeated();
        return replayed(service().transactional.execute(message.request(), MessageTable.insert(message)));
    }

    /** Repeat from the store, with the library's table, action first. */
    @Benchmark
    public Outcome<String> transactionalActionFirstRepeat() throws SQLException {
        Message message = Message.repeated();
        return replayed(service().actionFirst.execute(message.request(), MessageTable.insert(message)));
    }

    /** Repeat in the window. */
    @Benchmark
    public Outcome<String> windowRepeat() throws SQLException {
        Message message = Message.repeated();
        return replayed(service().windowed.execute(message.request(), MessageTable.insert(message)));
    }

    /** A batch on the own table. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public List<Outcome<String>> ownTableBatch() throws SQLException {
        Service service = service();
        return MessageTable.executeAll(service.ownTable, fresh(), service.doNothing);
    }

    /** A batch with the library's table. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public List<Outcome<String>> transactionalBatch() throws SQLException {
        Service service = service();
        return MessageTable.executeAll(service.transactional, fresh(), false);
    }

    /** A batch with the library's table, action first. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public List<Outcome<String>> transactionalActionFirstBatch() throws SQLException {
        return MessageTable.executeAll(service().actionFirst, fresh(), false);
    }

    private static List<Message> fresh() {
        return Stream.generate(Message::fresh).limit(BATCH).toList();
    }

    private static Outcome<String> executed(Outcome<String> outcome) {
        if (!(outcome instanceof Executed)) {
            throw new IllegalStateException("not executed: " + outcome);
        }
        return outcome;
    }

    private static Outcome<String> replayed(Outcome<String> outcome) {
        if (outcome instanceof Executed) {
            throw new IllegalStateException("executed: " + outcome);
        }
        return outcome;
    }
}
