package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.RetryableException;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The purger on a scheduler whose time passes when the test says so. */
@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
class PurgerTest {

    @AutoClose
    private final LeaseTable table;

    private final RecordAdmin admin;
    private final ByHand scheduler = new ByHand();
    private final List<Throwable> told = new ArrayList<>();

    PurgerTest(TestDatabase database) {
        table = new LeaseTable(database);
        admin = JdbcStores.admin(table.jdbi);
    }

    /** Runs what is due on the thread of the test; a task that throws is never run again, as with a real one. */
    private static final class ByHand extends ScheduledThreadPoolExecutor {

        private final List<Task> tasks = new ArrayList<>();
        private @Nullable Duration every;

        ByHand() {
            super(0);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long first, long delay, TimeUnit unit) {
            assertThat(first).isEqualTo(delay);
            every = Duration.of(delay, unit.toChronoUnit());
            Task task = new Task(command);
            tasks.add(task);
            return task;
        }

        void tick() {
            tasks.removeIf(task -> !task.runAndReset());
        }

        private static final class Task extends FutureTask<@Nullable Void>
                implements RunnableScheduledFuture<@Nullable Void> {

            Task(Runnable command) {
                super(command, null);
            }

            @Override
            public boolean runAndReset() {
                return super.runAndReset();
            }

            @Override
            public boolean isPeriodic() {
                return true;
            }

            @Override
            public long getDelay(TimeUnit unit) {
                return 0;
            }

            @Override
            public int compareTo(Delayed other) {
                return 0;
            }
        }
    }

    private void expired(int records) {
        for (int i = 0; i < records; i++) {
            table.hold(request("m" + System.nanoTime() + "-" + i)).complete("ok");
        }
        table.pass(RETENTION);
    }

    @Test
    @DisplayName("S11: nothing is purged unless asked; then what has expired, in small transactions, and no live lease")
    void purger_removesWhatHasExpired() {
        expired(1_203);
        table.hold(request("live"));
        table.pass(LEASE.multipliedBy(2));
        assertThat(table.count()).isEqualTo(1_204);
        table.dataSource.forget();

        try (Purger purger = admin.purgeEvery(Duration.ofMinutes(1), scheduler, told::add)) {
            assertThat(purger).isNotNull();
            assertThat(scheduler.every).isEqualTo(Duration.ofMinutes(1));
            assertThat(table.count()).as("before its time").isEqualTo(1_204);
            scheduler.tick();
            assertThat(table.count()).isEqualTo(1);
            assertThat(table.dataSource.calls()).filteredOn("commit"::equals).hasSize(3);
            expired(2);
            table.hold(request("live2"));
            scheduler.tick();
            assertThat(table.count()).isEqualTo(1);
        }
        assertThat(told).isEmpty();
    }

    @Test
    @DisplayName("A run that fails is told, and the next one goes on at its time")
    void runFails_isToldAndTheNextGoesOn() {
        expired(3);
        try (Purger purger = admin.purgeEvery(Duration.ofMinutes(1), scheduler, told::add)) {
            assertThat(purger).isNotNull();
            table.dataSource.fault(new Fault() {
                @Override
                public void before(@Nullable Connection real, String call) throws SQLException {
                    if (call.startsWith("DELETE") || call.startsWith("executeBatch")) {
                        throw new SQLException("in the way", "40001");
                    }
                }
            });
            scheduler.tick();
            scheduler.tick();
            assertThat(told).hasSize(2).hasOnlyElementsOfType(RetryableException.class);
            assertThat(table.count()).isEqualTo(3);

            table.dataSource.fault(Fault.none());
            scheduler.tick();
            assertThat(table.count()).isZero();
            assertThat(told).hasSize(2);
        }
    }

    @Test
    @DisplayName("Who is told and throws does not end it either; its failure is logged, with what it was to be told")
    void whoIsToldThrows_purgerGoesOn() {
        expired(1);
        List<LogRecord> logged = new ArrayList<>();
        Logger logger = Logger.getLogger("dev.idempotency");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                logged.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try (Purger purger = admin.purgeEvery(Duration.ofMinutes(1), scheduler, failure -> {
            throw new AssertionError("deaf");
        })) {
            assertThat(purger).isNotNull();
            table.dataSource.fault(new Fault() {
                @Override
                public void before(@Nullable Connection real, String call) {
                    throw new IllegalStateException("pool");
                }
            });
            scheduler.tick();
            assertThat(logged)
                    .singleElement()
                    .satisfies(record -> assertThat(record.getThrown())
                            .hasMessage("deaf")
                            .satisfies(
                                    thrown -> assertThat(thrown.getSuppressed()).hasSize(1)));
            table.dataSource.fault(Fault.none());
            scheduler.tick();
            assertThat(table.count()).isZero();
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
    }

    @Test
    @DisplayName("Once closed it removes nothing more, and leaves the scheduler alone")
    void closed_removesNothing() {
        Purger purger = admin.purgeEvery(Duration.ofMinutes(1), scheduler, told::add);
        purger.close();
        expired(1);
        scheduler.tick();

        assertThat(table.count()).isEqualTo(1);
        assertThat(scheduler.isShutdown()).isFalse();
    }

    @Test
    @DisplayName("S13: a time out of range is refused")
    void timeOutOfRange_isRefused() {
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatThrownBy(() -> admin.purgeEvery(wrong, scheduler, told::add))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
