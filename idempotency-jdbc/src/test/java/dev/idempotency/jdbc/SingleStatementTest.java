package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.testkit.faults.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Actions that are one statement, and run in autocommit mode. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class SingleStatementTest {

    private final TestDatabase database;
    private final Messages messages;
    private final JdbcStore<String> store;
    private final Request request = request("m1");

    SingleStatementTest(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
        store = store(messages.jdbi);
    }

    private static JdbcStore<String> store(Jdbi jdbi) {
        return JdbcStores.yourTable(
                jdbi, Messages::find, YourTableOptions.defaults().singleStatement());
    }

    private Outcome<String> execute(String body) {
        return store.execute(request, insert(request, body), (names, original, remaining) -> {});
    }

    private Outcome<String> replayed(String body) {
        return new Replayed<>(body, request.keys().get(0), Source.STORE);
    }

    @Test
    @DisplayName("First = the action's insert alone; late repeat = the refused insert and one read")
    void paths_costOneAndTwoStatements() {
        messages.dataSource.forget();

        assertThat(execute("ok")).isEqualTo(new Executed<>("ok"));
        assertThat(messages.dataSource.calls()).hasSize(1).first().asString().startsWith("insert");
        messages.dataSource.forget();

        assertThat(execute("no")).isEqualTo(replayed("ok"));
        assertThat(messages.dataSource.calls()).hasSize(2).satisfies(calls -> {
            assertThat(calls.get(0)).startsWith("insert");
            assertThat(calls.get(1)).startsWith("select");
        });
    }

    @Test
    @DisplayName("ON CONFLICT DO NOTHING and AlreadyStored: no error, and one read")
    void alreadyStored_isReplayed() {
        assumeTrue(database.name().startsWith("POSTGRESQL"), "says ON CONFLICT DO NOTHING");
        for (String body : new String[] {"ok", "no"}) {
            assertThat(store.execute(
                                    request,
                                    handle -> {
                                        int rows = handle.execute(
                                                "insert into message (sender, message_id, body) values ('ana', 'm1', ?)"
                                                        + " on conflict do nothing",
                                                body);
                                        if (rows == 0) {
                                            throw new AlreadyStored();
                                        }
                                        return body;
                                    },
                                    (n, o, r) -> {})
                            .response())
                    .isEqualTo("ok");
        }
    }

    @Test
    @DisplayName("W1: an action of one statement that leaves a transaction open has stored nothing, and is told so")
    void singleStatementLeavesTransactionOpen_isNotExecuted() {
        List<Object> published = new ArrayList<>();

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            handle.begin();
                            return insert(handle, request, "ok");
                        },
                        (n, o, r) -> published.add(o)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("transaction");

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("S2: an action that throws before its statement leaves nothing behind, and comes out unchanged")
    void throwsBeforeStatement_comesOutUnchanged() {
        IllegalStateException failure = new IllegalStateException("action");

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            throw failure;
                        },
                        (n, o, r) -> {}))
                .isSameAs(failure);

        assertThat(execute("ok")).isEqualTo(new Executed<>("ok"));
    }

    @Test
    @DisplayName("S4: an action that throws after its statement is unknown, publishes nothing, and a retry replays")
    void throwsAfterStatement_isUnknown() {
        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "ok");
                            throw new IllegalStateException("action");
                        },
                        (n, o, r) -> {
                            throw new AssertionError("published");
                        }))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasRootCauseMessage("action");

        assertThat(execute("no")).isEqualTo(replayed("ok"));
    }

    @Test
    @DisplayName("A second statement is refused before it runs, and the option is named")
    void secondStatement_isRefused() {
        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "ok");
                            return insert(handle, request("m2"), "alone");
                        },
                        (n, o, r) -> {}))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasStackTraceContaining("singleStatement()");

        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S1: an action that swallows the refusal of its insert is not told executed")
    void swallowedRefusal_isReplayed() {
        execute("ok");

        assertThat(store.execute(
                        request,
                        handle -> {
                            try {
                                return insert(handle, request, "no");
                            } catch (UnableToExecuteStatementException e) {
                                return "swallowed";
                            }
                        },
                        (n, o, r) -> {}))
                .isEqualTo(replayed("ok"));
    }

    @Test
    @DisplayName("S3: another constraint than a key's comes back unchanged")
    void otherConstraint_isThrownUnchanged() {
        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> "" + handle.execute("insert into message (sender, message_id) values ('a', 'b')"),
                        (n, o, r) -> {}))
                .isInstanceOf(UnableToExecuteStatementException.class);
    }

    @Test
    @DisplayName("J-12: the statement is applied, then the connection drops: unknown, and a retry replays")
    void acknowledgementLost_isUnknown_retryReplays() {
        messages.dataSource.fault(Fault.after(call -> call.startsWith("insert"), new SQLException("gone", "08006")));
        assertThatThrownBy(() -> execute("ok")).isInstanceOf(OutcomeUnknownException.class);
        messages.dataSource.fault(Fault.none());

        assertThat(execute("no")).isEqualTo(replayed("ok"));
    }

    @Test
    @DisplayName("Where connections come with autocommit off, the statement is committed all the same")
    void autocommitOff_commits() {
        JdbcStore<String> other = store(Jdbi.create(() -> {
            Connection connection = messages.dataSource.getConnection();
            connection.setAutoCommit(false);
            return connection;
        }));

        other.execute(request, insert(request, "ok"), (n, o, r) -> {});

        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("Joined calls work as without the option, in the caller's transaction")
    void joined_isUndoneWithTheCaller() {
        messages.jdbi.useHandle(handle -> {
            handle.begin();
            assertThat(store.joining(handle).execute(request, SingleStatementTest::two, (n, o, r) -> {}))
                    .isEqualTo(new Executed<>("two"));
            handle.rollback();
        });

        assertThat(messages.rows()).isZero();
    }

    private static String two(Handle handle) {
        insert(handle, request("m1"), "two");
        return insert(handle, request("m2"), "two");
    }
}
