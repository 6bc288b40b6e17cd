package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;

import dev.idempotency.Action;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.testkit.faults.Fault;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;

/** One message that is sent through stores on one database; what was run and published is counted. */
abstract class CountedCalls {

    final TestDatabase database;
    final Messages messages;
    final Request request = request("m1");
    final List<IdempotencyKey> published = new ArrayList<>();
    final AtomicInteger runs = new AtomicInteger();

    CountedCalls(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
    }

    final Outcome<String> execute(JdbcStore<String> store) {
        return store.execute(request, counted(), (names, original, remaining) -> published.addAll(names));
    }

    final Action<Handle, String, RuntimeException> counted() {
        return handle -> {
            runs.incrementAndGet();
            return insert(handle, request, "ok");
        };
    }

    /** The first such call fails, before or after the real connection has done it. */
    final void failOnce(String call, boolean after, SQLException with) {
        messages.dataSource.fault(after ? Fault.after(call::equals, with) : Fault.before(call::equals, with));
    }
}
