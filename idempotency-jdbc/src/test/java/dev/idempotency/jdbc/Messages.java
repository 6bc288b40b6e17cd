package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Request;
import dev.idempotency.testkit.faults.FaultyDataSource;
import java.util.Optional;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** A table of messages as a service would have it, in a fresh database, behind a data source that can be probed. */
final class Messages {

    final DataSource real;
    final FaultyDataSource dataSource;
    final Jdbi jdbi;

    Messages(TestDatabase database) {
        this(database, database.fresh());
    }

    /** As a program of its own, which knows the H2 database by its URL. */
    Messages(String h2) {
        this(TestDatabase.H2, TestDatabase.h2(h2));
    }

    Messages(TestDatabase database, DataSource real) {
        this.real = real;
        dataSource = new FaultyDataSource(real);
        jdbi = Jdbi.create(dataSource);
        Jdbi.create(real)
                .useHandle(handle -> handle.execute(database.sql("create table if not exists message ("
                        + " id IDENTITY, sender KEY(191) not null, message_id KEY(255) not null,"
                        + " origin KEY(191), business_id KEY(255), body TEXT not null,"
                        + " unique (sender, message_id), unique (origin, business_id))")));
        dataSource.forget();
    }

    JdbcStore<String> store() {
        return JdbcStores.yourTable(jdbi, Messages::find);
    }

    Idempotency<Handle, String> sends() {
        return Idempotency.with(store()).build();
    }

    static Request request(String messageId) {
        return Request.of(messageKey(messageId));
    }

    static IdempotencyKey messageKey(String messageId) {
        return IdempotencyKey.of("im", "ana", messageId);
    }

    static IdempotencyKey businessKey(String businessId) {
        return IdempotencyKey.of("notice", "erp", businessId);
    }

    /** Inserts a row with all keys of the request, as a service's action would. */
    static Action<Handle, String, RuntimeException> insert(Request request, String body) {
        return handle -> insert(handle, request, body);
    }

    static String insert(Handle handle, Request request, String body) {
        IdempotencyKey message = request.keys().get(0);
        IdempotencyKey business = request.keys().size() > 1 ? request.keys().get(1) : null;
        handle.execute(
                "insert into message (sender, message_id, origin, business_id, body) values (?, ?, ?, ?, ?)",
                message.scope(),
                message.id(),
                business == null ? null : business.scope(),
                business == null ? null : business.id(),
                body);
        return body;
    }

    static Optional<Original<String>> find(Handle handle, IdempotencyKey key) {
        return find(handle, key, "");
    }

    static Optional<Original<String>> find(Handle handle, IdempotencyKey key, String lock) {
        String columns =
                key.namespace().equals("im") ? "sender = ? and message_id = ?" : "origin = ? and business_id = ?";
        return handle.createQuery("select id, body from message where " + columns + lock)
                .bind(0, key.scope())
                .bind(1, key.id())
                .map((row, context) -> new Original<>(row.getLong(1), row.getString(2), null))
                .findOne();
    }

    int rows() {
        return Jdbi.create(real)
                .withHandle(handle -> handle.createQuery("select count(*) from message")
                        .mapTo(Integer.class)
                        .one());
    }
}
