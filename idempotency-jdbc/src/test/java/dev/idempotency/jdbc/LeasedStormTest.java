package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.store.Payload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("setups")
class LeasedStormTest {

    private static final int THREADS = 6;
    private static final int CALLS = 120;

    @AutoClose
    private final LeaseTable table;

    private final AtomicInteger takenOver = new AtomicInteger();
    private final AtomicInteger retries = new AtomicInteger();

    LeasedStormTest(LeasedFixture.Setup setup) {
        table = new LeaseTable(setup.database(), setup.isolation());
    }

    static List<LeasedFixture.Setup> setups() {
        return LeasedFixture.Setup.eachAt(
                TransactionIsolationLevel.READ_COMMITTED,
                TransactionIsolationLevel.REPEATABLE_READ,
                TransactionIsolationLevel.SERIALIZABLE);
    }

    @Test
    @DisplayName("S1, S5, S8, S11: crossing claims, takeovers, completions and releases at two servers beside a purge:"
            + " all names of a record agree at the end, and a grant is settled by its holder alone")
    void crossingKeysBesideTakeoverAndPurge_recordsStayWhole() throws Exception {
        List<JdbcLeases> servers = List.of(table.leases, table.anotherServer());
        RecordAdmin admin = JdbcStores.admin(table.jdbi);
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
        try {
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                JdbcLeases leases = servers.get(i % 2);
                Random random = new Random(i);
                calls.add(threads.submit(() -> {
                    for (int call = 0; call < CALLS || takenOver.get() < 5; call++) {
                        call(leases, random);
                    }
                }));
            }
            Future<?> purger = threads.submit(() -> {
                while (!over.get()) {
                    retried(() -> admin.purge(100));
                }
            });
            for (Future<?> call : calls) {
                call.get();
            }
            over.set(true);
            purger.get();
        } finally {
            threads.shutdownNow();
        }

        assertThat(takenOver.get()).as("takeovers").isPositive();
        assertThat(table.disagreeing()).as("records whose names disagree").isZero();
    }

    @Test
    @DisplayName("S1: of six callers at two servers who meet a lapsed record at once, one takes it over")
    void lapsedRecordMetByMany_isTakenOverOnce() throws Exception {
        List<JdbcLeases> servers = List.of(table.leases, table.anotherServer());
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (int round = 0; round < 20; round++) {
                Request both = Messages.request("m" + round).and(Messages.businessKey("b" + round));
                table.hold(both);
                table.pass(LeaseTable.LEASE);
                CyclicBarrier together = new CyclicBarrier(THREADS);
                List<Future<Claim>> claims = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    JdbcLeases leases = servers.get(i % 2);
                    // Some by one of its names, some by the other, some by both.
                    Request request = i % 3 == 0 ? both : Request.of(both.keys().get(i % 3 - 1));
                    claims.add(threads.submit(() -> {
                        together.await();
                        Claim[] claim = new Claim[1];
                        retried(() -> claim[0] =
                                leases.claim(request, UUID.randomUUID(), LeaseTable.LEASE, LeaseTable.RETENTION));
                        return claim[0];
                    }));
                }
                int granted = 0;
                for (Future<Claim> claim : claims) {
                    granted += claim.get() instanceof Claim.Granted ? 1 : 0;
                }
                assertThat(granted).as("holders").isEqualTo(1);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(table.disagreeing()).as("records whose names disagree").isZero();
    }

    private void call(JdbcLeases leases, Random random) {
        List<Integer> ids = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5));
        Collections.shuffle(ids, random);
        Request request = Messages.request("m" + ids.get(0)).and(Messages.messageKey("m" + ids.get(1)));
        UUID owner = UUID.randomUUID();
        // Some leases and records are over as soon as others come.
        Duration lease = random.nextInt(3) == 0 ? Duration.ofMillis(1) : Duration.ofMillis(20);
        Duration retention = random.nextInt(3) == 0 ? lease : Duration.ofMillis(40);
        Claim[] claim = new Claim[1];
        retried(() -> claim[0] = leases.claim(request, owner, lease, retention));
        if (!(claim[0] instanceof Claim.Granted granted)) {
            return;
        }
        takenOver.addAndGet(granted.takenOver() ? 1 : 0);
        byte[] payload = Payload.encode(Codec.utf8(), owner.toString());
        boolean[] mine = new boolean[1];
        switch (random.nextInt(4)) {
            case 0 -> {
                retried(() -> mine[0] = leases.complete(request, owner, granted.token(), payload, retention));
                if (!mine[0]) {
                    // What was lost stays lost.
                    retried(() -> mine[0] = leases.complete(request, owner, granted.token(), payload, retention));
                    assertThat(mine[0]).isFalse();
                }
            }
            case 1 -> retried(() -> leases.release(request, owner, granted.token()));
            case 2 -> retried(() -> leases.extend(request, owner, granted.token(), lease));
            default -> {}
        }
    }

    private void retried(Runnable primitive) {
        while (true) {
            try {
                primitive.run();
                return;
            } catch (RetryableException e) {
                retries.incrementAndGet();
            }
        }
    }
}
