package dev.idempotency.jdbc;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.RetryableException;
import dev.idempotency.StoreException;
import dev.idempotency.Window;
import dev.idempotency.store.Payload;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks after the library's table, whatever stores write it: finds records, frees or completes those that are stuck,
 * forgets, purges. {@link JdbcStores#admin} makes one.
 *
 * <p>What is changed here is removed from the windows that it was made with, so that they serve no answer of before; calls
 * under way publish nothing of before either. <strong>Windows of other servers are out of reach</strong>, and those of this
 * process that were not given: they may answer with a record that was forgotten until their time for it is over. Remove the
 * key there as well, or wait for as long as a window lasts.
 *
 * <p>Every method throws {@link RetryableException} if nothing was changed and calling again is worth it, {@link
 * OutcomeUnknownException} if the acknowledgement of the commit was lost (calling again is safe), and {@link StoreException}
 * if the table can't be used. Safe for use by any number of threads.
 */
public final class RecordAdmin {

    private static final int LARGEST_PAGE = 10_000;
    private static final Set<RecordState> HELD = Set.of(RecordState.IN_PROGRESS, RecordState.LAPSED);
    private static final Set<RecordState> UNANSWERED =
            Set.of(RecordState.IN_PROGRESS, RecordState.LAPSED, RecordState.UNREADABLE);

    private final Database database;
    private final AdminStatements statements;
    private final RecordStatements records;
    private final List<Window<?>> windows;

    RecordAdmin(Database database, TableName table, List<Window<?>> windows) {
        this.database = database;
        this.statements = new AdminStatements(table, database.dialect());
        this.records = new RecordStatements(table, database.dialect());
        this.windows = windows;
    }

    /** What to read or write, on a connection. */
    @FunctionalInterface
    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /**
     * Finds the record that a key is a name of, expired ones too.
     *
     * @param key the key
     * @return all names of the record, in the order of keys; empty if there is none
     */
    public List<RecordInfo> find(IdempotencyKey key) {
        Objects.requireNonNull(key, "key");
        return read(connection -> {
            RecordInfo found = statements.find(connection, key, false);
            return found == null ? List.<RecordInfo>of() : statements.names(connection, found.record(), false);
        });
    }

    /**
     * Lists names of one namespace whose records are in one state, page by page: give the key of the last one of a page
     * to get the next. There is no index on states, so that a rare one in a large namespace takes a while.
     *
     * @param namespace the namespace
     * @param state the state
     * @param after the key after which the page begins, or null for the first page
     * @param limit the most names; 1 to 10,000
     * @return names in the order of keys; fewer than the limit on the last page
     * @throws IllegalArgumentException if the limit is out of range, the namespace is none, or the key is of another one
     */
    public List<RecordInfo> list(String namespace, RecordState state, @Nullable IdempotencyKey after, int limit) {
        Objects.requireNonNull(state, "state");
        // A key of any kind, since it checks its namespace.
        String checked = IdempotencyKey.of(namespace, "-", "-").namespace();
        if (after != null && !after.namespace().equals(checked)) {
            throw new IllegalArgumentException("the page begins after " + after + ", which is of another namespace");
        }
        if (limit < 1 || limit > LARGEST_PAGE) {
            throw new IllegalArgumentException("a page has from 1 to 10,000 names, not " + limit);
        }
        return read(connection -> statements.list(connection, checked, state, after, limit));
    }

    /**
     * Removes a record whose lease is held or over, with all its names, so that the next request executes. For a key that
     * is stuck although its effect is known not to have happened. A holder that still runs is told that it has lost its
     * lease, and its effect can't be stopped by this.
     *
     * @param key any name of the record
     * @return false if there is no such record, or it is complete
     */
    public boolean release(IdempotencyKey key) {
        return change(key, HELD, statements::delete);
    }

    /**
     * Completes a record in progress with a response, under all its names, whoever holds it. For a key that is stuck although
     * its effect is known to have happened. A holder that still runs is told that it has lost its lease.
     *
     * @param key any name of the record
     * @param codec the store's
     * @param response what repeats are answered with
     * @param retention how long it is kept from now; 1 millisecond to 100 years
     * @param <R> the response
     * @return false if there is no such record, or it is complete already
     * @throws StoreException if the codec can't encode the response
     */
    public <R> boolean complete(IdempotencyKey key, Codec<R> codec, @Nullable R response, Duration retention) {
        Durations.positive("retention", retention);
        byte[] payload = Payload.encode(codec, response);
        return change(
                key, UNANSWERED, (connection, record) -> statements.complete(connection, record, payload, retention));
    }

    /**
     * Removes a record with all its names, in whatever state it is. The next request with one of them executes again: what it
     * did the first time, it does twice.
     *
     * @param key any name of the record
     * @return false if there was none
     */
    public boolean forget(IdempotencyKey key) {
        return change(key, Set.of(RecordState.values()), statements::delete);
    }

    /**
     * Removes expired records, in one small transaction, as {@link RecordStore#purge} does. A lease that lasts is never
     * removed: its record is kept for at least as long.
     *
     * @param batchSize the most rows to remove; 1 to 10,000
     * @return how many rows were removed; less than the batch size if that was all
     * @throws IllegalArgumentException if the batch size is out of range
     */
    public int purge(int batchSize) {
        return Purger.purge(database, records, batchSize);
    }

    /**
     * Purges from time to time. Nothing is purged by itself unless this is asked for; one server is enough, and several do
     * no harm.
     *
     * @param every how long to rest before the first run and after each one; 1 millisecond to 100 years
     * @param scheduler where it runs; the caller's to shut down
     * @param onFailure told, on the scheduler's thread, what a run failed with; the next one runs at its time all the same.
     *     What it throws itself is logged by {@link System.Logger}
     * @return what to close to end it
     * @throws IllegalArgumentException if the time is out of range
     */
    public Purger purgeEvery(
            Duration every, ScheduledExecutorService scheduler, Consumer<? super Throwable> onFailure) {
        return Purger.start(this::purge, every, scheduler, onFailure);
    }

    @FunctionalInterface
    private interface Change {
        void to(Connection connection, UUID record) throws SQLException;
    }

    private boolean change(IdempotencyKey key, Set<RecordState> states, Change change) {
        Objects.requireNonNull(key, "key");
        List<IdempotencyKey> names = new ArrayList<>(List.of(key));
        try {
            return Attempts.run(
                    database,
                    (session, again) -> session.inTransaction(handle -> {
                        try {
                            Connection connection = handle.getConnection();
                            RecordInfo found = statements.find(connection, key, true);
                            if (found == null || !states.contains(found.state())) {
                                return false;
                            }
                            statements.names(connection, found.record(), true).forEach(name -> names.add(name.key()));
                            change.to(connection, found.record());
                            return true;
                        } catch (SQLException e) {
                            throw StatementFailure.of(e);
                        }
                    }));
        } finally {
            // After the commit, so that no call which still sees the old record can publish it; and in every case,
            // since a
            // lost acknowledgement may hide a commit.
            windows.forEach(window -> names.forEach(window::remove));
        }
    }

    private <T> T read(Work<T> work) {
        return Attempts.run(
                database,
                (session, again) -> session.reading(handle -> {
                    try {
                        return work.on(handle.getConnection());
                    } catch (SQLException e) {
                        throw StatementFailure.of(e);
                    }
                }));
    }
}
