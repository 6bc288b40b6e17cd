package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
class PurgeUnderLoadTest {

    private static final int BATCH = 500;
    private static final int THREADS = 4;

    @AutoClose
    private final LeaseTable table;

    private final RecordAdmin admin;
    private final int expired;
    private final AtomicInteger number = new AtomicInteger();

    PurgeUnderLoadTest(TestDatabase database) {
        table = new LeaseTable(database);
        admin = JdbcStores.admin(table.jdbi);
        // Servers are what live traffic meets; H2 takes ten times as long for a batch.
        expired = database == TestDatabase.H2 ? 20_000 : 100_000;
        String rows = switch (database) {
            case H2 ->
                "select cast('im' || char(0) || 'ana' || char(0) || 'old' || x as varbinary), hash('md5',"
                        + " cast(cast(x as varchar) as varbinary)), 1, x from system_range(1, " + expired + ")";
            case POSTGRESQL_14, POSTGRESQL_17 ->
                "select decode('696d00616e6100', 'hex') || convert_to('old' || x, 'UTF8'), decode(md5(x::text),"
                        + " 'hex'), 1, x from generate_series(1, " + expired + ") x";
            case MARIADB, MARIADB_SNAPSHOT ->
                "select concat('im', char(0), 'ana', char(0), 'old', seq), unhex(md5(seq)), 1, seq from seq_1_to_"
                        + expired;
        };
        table.direct.useHandle(handle -> handle.execute(
                "insert into idempotency_record (idempotency_key, record_id, created_at, expires_at) " + rows));
    }

    @Test
    @DisplayName(
            "J-15: 100,000 expired records are purged in small transactions under live traffic in both modes, in which"
                    + " every call succeeds; and none of a live record is removed")
    void expiredRecordsUnderLiveTraffic_arePurgedAndNoCallFails() throws Exception {
        assertThat(table.count()).isEqualTo(expired);
        IdempotencyStore<Lease, String> leased = table.store();
        RecordStore<String> transactional = JdbcStores.transactional(table.direct, Codec.utf8());
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        int removed = 0;
        int live = 0;
        try {
            List<Future<Integer>> calls = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                boolean leases = t % 2 == 0;
                calls.add(threads.submit(() -> {
                    int executed = 0;
                    while (!over.get()) {
                        int n = number.incrementAndGet();
                        // Some new, and some whose expired record the purge is about to remove as well.
                        Request sent = request((n % 4 == 0 ? "old" : "new") + n);
                        Outcome<String> outcome = leases
                                ? answer(leased, sent, "ok")
                                : transactional.execute(sent, handle -> "ok", (k, o, r) -> {});
                        assertThat(outcome).isEqualTo(new Executed<>("ok"));
                        executed++;
                    }
                    return executed;
                }));
            }
            table.dataSource.forget();
            int batch;
            do {
                batch = admin.purge(BATCH);
                removed += batch;
            } while (batch > 0);
            over.set(true);
            for (Future<Integer> call : calls) {
                live += call.get();
            }
        } finally {
            over.set(true);
            threads.shutdownNow();
        }
        int takenOver = expired - removed;
        assertThat(takenOver).as("expired records that live calls took").isBetween(0, live);
        assertThat(live).as("live calls").isGreaterThan(100);
        assertThat(table.count()).as("live records").isEqualTo(live);
    }
}
