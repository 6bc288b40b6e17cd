package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import dev.idempotency.window.CaffeineWindow;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What each path of a lease costs in statements, each of them one round trip: the figures in {@code docs/guarantees.md}. */
@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
class LeasedStatementCountTest {

    private static final String INSERT = "INSERT";
    private static final String COPY = "INSERT … SELECT";
    private static final String READ = "SELECT";
    private static final String LOCK = "SELECT … FOR UPDATE";
    private static final String UPDATE = "UPDATE";
    private static final String DELETE = "DELETE";
    private static final String COMMIT = "commit";

    @AutoClose
    private final LeaseTable table;

    private final IdempotencyStore<Lease, String> store;
    private final Request request = request("m1");

    LeasedStatementCountTest(TestDatabase database) {
        table = new LeaseTable(database);
        store = table.store();
    }

    private List<String> calls() {
        return table.dataSource.calls().stream()
                .map(sql -> {
                    String verb = sql.split(" ", 2)[0];
                    if (verb.equals(READ) && sql.endsWith("FOR UPDATE")) {
                        return LOCK;
                    }
                    return verb.equals(INSERT) && sql.contains(") SELECT ?") ? COPY : verb;
                })
                .toList();
    }

    @Test
    @DisplayName("First = one insert, and one update after the action; no connection in between")
    void first_isInsertAndUpdate() {
        table.dataSource.forget();
        assertThat(store.execute(
                        request.and(businessKey("b1")),
                        lease -> table.dataSource.openConnections() + " open",
                        (n, o, r) -> {}))
                .isEqualTo(new Executed<>("0 open"));

        assertThat(calls()).containsExactly(INSERT, UPDATE);
    }

    @Test
    @DisplayName("Without autocommit each of the two is committed")
    void first_withoutAutocommit_isCommittedTwice() {
        IdempotencyStore<Lease, String> committing = JdbcStores.leased(
                Jdbi.create(() -> {
                    Connection connection = table.dataSource.getConnection();
                    connection.setAutoCommit(false);
                    return connection;
                }),
                Codec.utf8(),
                LeaseOptions.defaults());
        table.dataSource.forget();
        answer(committing, request, "ok");

        assertThat(calls()).containsExactly(INSERT, COMMIT, UPDATE, COMMIT);
    }

    @Test
    @DisplayName("Repeat in the window = nothing, and no connection")
    void repeatInTheWindow_isNothing() {
        Idempotency<Lease, String> payments = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        payments.execute(request, lease -> "ok");
        table.dataSource.forget();
        assertThat(payments.execute(request, lease -> "no")).isInstanceOf(Replayed.class);

        assertThat(calls()).isEmpty();
        assertThat(table.dataSource.mostConnections()).isZero();
    }

    @Test
    @DisplayName("Late repeat, and a duplicate that is refused = the refused insert and one read, on one connection")
    void lateRepeatAndRefusal_areInsertAndRead() {
        answer(store, request, "ok");
        table.hold(request("m2"));
        for (Request each : List.of(request, request("m2"))) {
            table.dataSource.forget();
            assertThat(answer(store, each, "no")).isInstanceOfAny(Replayed.class, InProgress.class);

            assertThat(calls()).containsExactly(INSERT, READ);
            assertThat(table.dataSource.mostConnections()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName(
            "A takeover = as a late repeat, then lock all names and the request's, update, commit; its completion = update, lock,"
                    + " update, commit")
    void takeover_locksAndUpdates() {
        table.hold(request);
        table.pass(LEASE);
        table.dataSource.forget();
        answer(store, request, "ok");

        assertThat(calls()).containsExactly(INSERT, READ, LOCK, LOCK, UPDATE, COMMIT, UPDATE, LOCK, UPDATE, COMMIT);
    }

    @Test
    @DisplayName("A new key beside a known one = as a late repeat, then lock, one insert for each, commit")
    void newName_locksAndInserts() {
        answer(store, request, "ok");
        table.dataSource.forget();
        answer(store, request.and(businessKey("b1")), "no");

        assertThat(calls()).containsExactly(INSERT, READ, LOCK, COPY, COMMIT);
    }

    @Test
    @DisplayName("Over an expired record = as a late repeat, then lock, delete, insert, commit; and the update")
    void overExpired_locksDeletesAndInserts() {
        answer(store, request, "old");
        table.pass(RETENTION);
        table.dataSource.forget();
        answer(store, request, "new");

        assertThat(calls()).containsExactly(INSERT, READ, LOCK, DELETE, INSERT, COMMIT, UPDATE);
    }

    @Test
    @DisplayName("Extending = one update; releasing = one delete")
    void extendAndRelease_areOneStatementEach() {
        table.dataSource.forget();
        assertThatThrownBy(() -> store.execute(
                        request,
                        lease -> {
                            lease.extend(LEASE.multipliedBy(2));
                            throw new IllegalStateException("action");
                        },
                        (n, o, r) -> {}))
                .hasMessage("action");

        assertThat(calls()).containsExactly(INSERT, UPDATE, DELETE);
    }
}
