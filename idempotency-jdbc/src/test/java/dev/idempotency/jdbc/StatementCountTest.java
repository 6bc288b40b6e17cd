package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What each path costs in statements: the figures in {@code docs/guarantees.md}. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class StatementCountTest {

    private static final String INSERT =
            "insert into message (sender, message_id, origin, business_id, body) values (?, ?, ?, ?, ?)";
    private static final String FIND = "select id, body from message where sender = ? and message_id = ?";

    private final Messages messages;
    private final Request request = request("m1");

    StatementCountTest(TestDatabase database) {
        messages = new Messages(database);
    }

    @Test
    @DisplayName("Own table: first = the action's insert and the commit")
    void yourTable_first_isInsertAndCommit() {
        Idempotency<Handle, String> sends = messages.sends();
        messages.dataSource.forget();

        assertThat(sends.execute(request, insert(request, "ok"))).isInstanceOf(Executed.class);

        assertThat(messages.dataSource.calls()).containsExactly(INSERT, "commit");
    }

    @Test
    @DisplayName("Own table: repeat in the window = nothing, not even a connection")
    void yourTable_repeatInWindow_isNothing() {
        Idempotency<Handle, String> sends = Idempotency.with(messages.store())
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        sends.execute(request, insert(request, "ok"));
        messages.dataSource.forget();

        assertThat(sends.execute(request, insert(request, "ok")))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.WINDOW));

        assertThat(messages.dataSource.calls()).isEmpty();
        assertThat(messages.dataSource.mostConnections()).isZero();
    }

    @Test
    @DisplayName("Own table: late repeat = the refused insert, the rollback, one read, on one connection")
    void yourTable_lateRepeat_isInsertRollbackRead() {
        messages.sends().execute(request, insert(request, "ok"));
        Idempotency<Handle, String> restarted = messages.sends();
        messages.dataSource.forget();

        assertThat(restarted.execute(request, insert(request, "ok")))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));

        assertThat(messages.dataSource.calls()).containsExactly(INSERT, "rollback", FIND);
        assertThat(messages.dataSource.mostConnections()).isEqualTo(1);
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    @Test
    @DisplayName("Library table: first = two statements and the commit around the action's own work")
    void transactional_first_isTwoStatementsAndCommit() {
        Idempotency<Handle, String> sends = library();

        sends.execute(request, insert(request, "ok"));

        assertThat(messages.dataSource.calls()).hasSize(4).satisfies(calls -> {
            assertThat(calls.get(0)).startsWith("INSERT INTO idempotency_record");
            assertThat(calls.get(1)).isEqualTo(INSERT);
            assertThat(calls.get(2)).startsWith("UPDATE idempotency_record");
            assertThat(calls.get(3)).isEqualTo("commit");
        });
    }

    @Test
    @DisplayName("Library table: late repeat = the refused insert, the rollback, one read")
    void transactional_lateRepeat_isInsertRollbackRead() {
        library().execute(request, insert(request, "ok"));
        Idempotency<Handle, String> restarted = library();

        assertThat(restarted.execute(request, insert(request, "ok"))).isInstanceOf(Replayed.class);

        assertThat(messages.dataSource.calls()).hasSize(3).satisfies(calls -> {
            assertThat(calls.get(0)).startsWith("INSERT INTO idempotency_record");
            assertThat(calls.get(1)).isEqualTo("rollback");
            assertThat(calls.get(2)).startsWith("SELECT");
        });
    }

    private Idempotency<Handle, String> library() {
        RecordStore<String> store = JdbcStores.transactional(messages.jdbi, Codec.utf8());
        messages.dataSource.forget();
        return Idempotency.with(store).build();
    }
}
