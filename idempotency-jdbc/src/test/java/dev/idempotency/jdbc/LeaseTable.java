package dev.idempotency.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseBackend.Claim;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.store.Payload;
import dev.idempotency.testkit.faults.FaultyDataSource;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.jspecify.annotations.Nullable;

/** A fresh database with leases in it, seen from their primitives, from stores and from its rows. */
final class LeaseTable implements AutoCloseable {

    static final Duration LEASE = Duration.ofMinutes(5);
    static final Duration RETENTION = Duration.ofHours(24);

    final TestDatabase database;
    final FaultyDataSource dataSource;
    final Jdbi jdbi;
    final JdbcLeases leases;

    /** Around the probes, so that what a test looks at by itself is not counted. */
    final Jdbi direct;

    /** Where connections cost more than statements. */
    private final HikariDataSource pool = new HikariDataSource();

    /** At the isolation that connections of this database have by themselves. */
    LeaseTable(TestDatabase database) {
        this(database, null);
    }

    LeaseTable(TestDatabase database, @Nullable TransactionIsolationLevel isolation, String... parameters) {
        this.database = database;
        pool.setDataSource(database.fresh(parameters));
        pool.setMaximumPoolSize(30);
        pool.setMinimumIdle(0);
        pool.setTransactionIsolation(isolation == null ? null : "TRANSACTION_" + isolation);
        dataSource = new FaultyDataSource(pool);
        jdbi = Jdbi.create(dataSource);
        direct = Jdbi.create(pool);
        store(LeaseOptions.defaults());
        leases = new JdbcLeases(Database.of(jdbi), TableName.of("idempotency_record"));
        dataSource.forget();
    }

    /** With connections of its own, which are not probed. */
    JdbcLeases anotherServer() {
        return new JdbcLeases(Database.of(direct), TableName.of("idempotency_record"));
    }

    IdempotencyStore<Lease, String> store(LeaseOptions options) {
        return JdbcStores.leased(jdbi, Codec.utf8(), options);
    }

    IdempotencyStore<Lease, String> store() {
        return store(LeaseOptions.defaults().lease(LEASE));
    }

    /** A grant, and what its owner can do with it. */
    record Holder(JdbcLeases leases, Request request, UUID owner, Claim.Granted granted) {

        boolean complete(String response) {
            return leases.complete(request, owner, granted.token(), Payload.encode(Codec.utf8(), response), RETENTION);
        }

        boolean release() {
            return leases.release(request, owner, granted.token());
        }

        boolean extend(Duration by) {
            return leases.extend(request, owner, granted.token(), by);
        }
    }

    Holder hold(Request request) {
        return hold(leases, request);
    }

    static Holder hold(JdbcLeases leases, Request request) {
        UUID owner = UUID.randomUUID();
        if (leases.claim(request, owner, LEASE, RETENTION) instanceof Claim.Granted granted) {
            return new Holder(leases, request, owner, granted);
        }
        throw new AssertionError("the claim was not granted");
    }

    Claim claim(Request request) {
        return leases.claim(request, UUID.randomUUID(), LEASE, RETENTION);
    }

    static String response(Claim claim) {
        if (claim instanceof Claim.Done done) {
            return Payload.decode(Codec.utf8(), done.original().response());
        }
        throw new AssertionError("not done but " + claim);
    }

    static Outcome.Refused<?> refusal(Claim claim) {
        if (claim instanceof Claim.Refused refused) {
            return refused.reason();
        }
        throw new AssertionError("not refused but " + claim);
    }

    static Outcome<String> answer(IdempotencyStore<Lease, String> store, Request request, String response) {
        return store.execute(request, lease -> response, (names, original, remaining) -> {});
    }

    /** Moves all times of all records back. */
    void pass(Duration time) {
        long micros = time.toMillis() * 1_000;
        direct.useHandle(handle -> handle.execute(
                "update idempotency_record set created_at = created_at - ?, lease_until = lease_until - ?, expires_at ="
                        + " expires_at - ?",
                micros,
                micros,
                micros));
    }

    void update(String set) {
        direct.useHandle(handle -> handle.execute("update idempotency_record set " + set));
    }

    /** All rows as one text, for "nothing has changed". */
    String rows() {
        return direct.withHandle(
                handle -> handle.createQuery("select * from idempotency_record order by idempotency_key")
                        .map((row, context) -> text(row))
                        .list()
                        .toString());
    }

    private static String text(ResultSet row) throws SQLException {
        List<String> columns = new ArrayList<>();
        for (String bytes : List.of("idempotency_key", "record_id", "fingerprint", "response", "owner")) {
            byte[] value = row.getBytes(bytes);
            columns.add(bytes + " " + (value == null ? "null" : HexFormat.of().formatHex(value)));
        }
        for (String number : List.of("token", "lease_until", "created_at", "expires_at")) {
            columns.add(number + " " + row.getLong(number));
        }
        return String.join(", ", columns);
    }

    /** Records whose names differ in anything but the name. */
    long disagreeing() {
        return direct
                .withHandle(handle -> handle.createQuery("select * from idempotency_record")
                        .map((row, context) -> text(row))
                        .list())
                .stream()
                .map(text -> text.substring(text.indexOf("record_id")).replaceAll(", created_at \\d+", ""))
                .distinct()
                .collect(Collectors.groupingBy(text -> text.substring(0, text.indexOf(','))))
                .values()
                .stream()
                .filter(names -> names.size() > 1)
                .count();
    }

    int count() {
        return direct.withHandle(handle -> handle.createQuery("select count(*) from idempotency_record")
                .mapTo(Integer.class)
                .one());
    }

    long column(String column, IdempotencyKey key) {
        return direct.withHandle(
                handle -> handle.createQuery("select " + column + " from idempotency_record where idempotency_key = ?")
                        .bind(0, key.toBytes())
                        .mapTo(Long.class)
                        .one());
    }

    @Override
    public void close() {
        pool.close();
    }
}
