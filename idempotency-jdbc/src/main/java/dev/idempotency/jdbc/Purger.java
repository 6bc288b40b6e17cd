package dev.idempotency.jdbc;

import dev.idempotency.RetryableException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;

/**
 * Removes expired records from time to time, until it is closed. {@link RecordAdmin#purgeEvery} makes one.
 *
 * <p>Each run removes batches in small transactions until nothing expired is left. A run that fails is told to whoever
 * was named, and the next one starts at its time as if nothing had been. Safe for use by any number of threads.
 */
public final class Purger implements AutoCloseable {

    private static final int BATCH = 500;
    private static final int LARGEST_BATCH = 10_000;

    private final IntUnaryOperator purge;
    private final Consumer<? super Throwable> onFailure;
    private final Future<?> runs;
    private volatile boolean closed;

    private Purger(
            IntUnaryOperator purge,
            Duration every,
            ScheduledExecutorService scheduler,
            Consumer<? super Throwable> onFailure) {
        this.purge = purge;
        this.onFailure = onFailure;
        long millis = every.toMillis();
        this.runs = scheduler.scheduleWithFixedDelay(this::run, millis, millis, TimeUnit.MILLISECONDS);
    }

    static Purger start(
            IntUnaryOperator purge,
            Duration every,
            ScheduledExecutorService scheduler,
            Consumer<? super Throwable> onFailure) {
        Objects.requireNonNull(scheduler, "scheduler");
        Objects.requireNonNull(onFailure, "onFailure");
        return new Purger(purge, Durations.positive("time between two purges", every), scheduler, onFailure);
    }

    /** Removes up to so many expired rows in one transaction. */
    static int purge(Database database, RecordStatements statements, int batchSize) {
        if (batchSize < 1 || batchSize > LARGEST_BATCH) {
            throw new IllegalArgumentException("a batch is from 1 to 10,000 rows, not " + batchSize);
        }
        try (Session session = Session.open(database)) {
            return session.<Integer, SQLException>inTransaction(
                    handle -> statements.purge(handle.getConnection(), batchSize));
        } catch (SQLException e) {
            throw failed(StatementFailure.of(e), database);
        } catch (RuntimeException failure) {
            throw failed(failure, database);
        }
    }

    private static RuntimeException failed(RuntimeException failure, Database database) {
        if (SqlFailures.saysRunAgain(failure, database.dialect())) {
            return new RetryableException("a live call was in the way of the purge, which removed nothing", failure);
        }
        RuntimeException translated = StatementFailure.translated(failure);
        return translated != null ? translated : failure;
    }

    private void run() {
        try {
            int removed;
            do {
                removed = closed ? 0 : purge.applyAsInt(BATCH);
            } while (removed == BATCH);
        } catch (Throwable failure) {
            // Whatever left this method would end the schedule.
            tell(failure);
        }
    }

    private void tell(Throwable failure) {
        try {
            onFailure.accept(failure);
        } catch (Throwable e) {
            if (e != failure) {
                e.addSuppressed(failure);
            }
            System.getLogger("dev.idempotency")
                    .log(System.Logger.Level.WARNING, "who is told of a failed purge failed; the purger goes on", e);
        }
    }

    /** Ends it. A batch under way is brought to its end; the scheduler is the caller's, and goes on. */
    @Override
    public void close() {
        closed = true;
        runs.cancel(false);
    }
}
