package dev.idempotency.jdbc;

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
import java.time.Duration;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** A fresh H2 database with leases in it, seen from their primitives, from stores and from its rows. */
final class LeaseTable {

    static final Duration LEASE = Duration.ofMinutes(5);
    static final Duration RETENTION = Duration.ofHours(24);

    final Messages messages = new Messages(TestDatabase.H2);
    final FaultyDataSource dataSource = messages.dataSource;
    final Jdbi jdbi = messages.jdbi;
    final JdbcLeases leases;

    /** Around the probes, so that what a test looks at by itself is not counted. */
    final Jdbi direct = Jdbi.create(messages.real);

    LeaseTable() {
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
        return direct.withHandle(handle -> handle.createQuery("select rawtohex(idempotency_key), rawtohex(record_id),"
                        + " rawtohex(fingerprint), rawtohex(response), rawtohex(owner), token, lease_until, created_at,"
                        + " expires_at from idempotency_record order by 1")
                .mapToMap()
                .list()
                .toString());
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
}
