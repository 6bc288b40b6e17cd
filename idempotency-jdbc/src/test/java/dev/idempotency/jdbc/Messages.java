package dev.idempotency.jdbc;

import dev.idempotency.Action;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Request;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** A table of messages as a service would have it, in a fresh H2 database, behind a data source that can be probed. */
final class Messages {

    final JdbcDataSource h2 = new JdbcDataSource();
    final ProbedDataSource dataSource = new ProbedDataSource(h2);
    final Jdbi jdbi = Jdbi.create(dataSource);

    Messages() {
        this("mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    }

    Messages(String database) {
        h2.setURL("jdbc:h2:" + database);
        Jdbi.create((DataSource) h2)
                .useHandle(handle -> handle.execute("create table if not exists message ("
                        + " id bigint generated always as identity primary key,"
                        + " sender varchar(191) not null, message_id varchar(255) not null,"
                        + " system varchar(191), business_id varchar(255), body varchar not null,"
                        + " unique (sender, message_id), unique (system, business_id))"));
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
                "insert into message (sender, message_id, system, business_id, body) values (?, ?, ?, ?, ?)",
                message.scope(),
                message.id(),
                business == null ? null : business.scope(),
                business == null ? null : business.id(),
                body);
        return body;
    }

    static Optional<Original<String>> find(Handle handle, IdempotencyKey key) {
        String columns =
                key.namespace().equals("im") ? "sender = ? and message_id = ?" : "system = ? and business_id = ?";
        return handle.createQuery("select id, body from message where " + columns)
                .bind(0, key.scope())
                .bind(1, key.id())
                .map((row, context) -> new Original<>(row.getLong(1), row.getString(2), null))
                .findOne();
    }

    int rows() {
        return Jdbi.create((DataSource) h2)
                .withHandle(handle -> handle.createQuery("select count(*) from message")
                        .mapTo(Integer.class)
                        .one());
    }
}
