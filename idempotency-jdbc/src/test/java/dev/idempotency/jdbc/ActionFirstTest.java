package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The library's table, with keys and response inserted after the action. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class ActionFirstTest {

    private final Messages messages;
    private final JdbcStore<String> store;
    private final Request request = request("m1");

    ActionFirstTest(TestDatabase database) {
        messages = new Messages(database);
        store = JdbcStores.transactional(
                messages.jdbi, Codec.utf8(), RecordTableOptions.defaults().actionFirst());
        messages.dataSource.forget();
    }

    @Test
    @DisplayName("First = the action's own work, one insert and the commit")
    void first_isOneStatementAndCommit() {
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});

        assertThat(messages.dataSource.calls()).hasSize(3).satisfies(calls -> {
            assertThat(calls.get(0)).startsWith("insert into message");
            assertThat(calls.get(1)).startsWith("INSERT INTO idempotency_record");
            assertThat(calls.get(2)).isEqualTo("commit");
        });
    }

    @Test
    @DisplayName("S2: what an action does for a repeat is undone, and its result is not believed")
    void repeat_isUndoneAndReplayed() {
        store.execute(request, handle -> "ok", (n, o, r) -> {});

        assertThat(store.execute(request, insert(request, "no"), (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));

        assertThat(messages.rows()).isZero();
    }

    @Test
    @DisplayName("An action that fails since it has been done already is not believed: the original is replayed")
    void repeatFails_isReplayed() {
        store.execute(request, insert(request, "ok"), (n, o, r) -> {});

        assertThat(store.execute(
                        request,
                        handle -> {
                            throw new IllegalStateException("shipped already");
                        },
                        (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", request.keys().get(0), Source.STORE));
    }

    @Test
    @DisplayName("S2: a first action that fails is believed, leaves nothing, and the next one executes")
    void firstFails_isThrown() {
        IllegalStateException failure = new IllegalStateException("action");

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> {
                            insert(handle, request, "half");
                            throw failure;
                        },
                        (n, o, r) -> {}))
                .isSameAs(failure);

        assertThat(messages.rows()).isZero();
        assertThat(store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isEqualTo(new Executed<>("ok"));
    }

    @Test
    @DisplayName("A joined repeat leaves the caller's transaction usable")
    void joinedRepeat_isUndoneToTheSavepoint() {
        store.execute(request, handle -> "ok", (n, o, r) -> {});
        List<Object> outcomes = new ArrayList<>();

        messages.jdbi.useTransaction(handle -> {
            insert(handle, request("other"), "business");
            outcomes.add(store.joining(handle).execute(request, insert(request, "no"), (n, o, r) -> {}));
        });

        assertThat(outcomes).containsExactly(new Replayed<>("ok", request.keys().get(0), Source.STORE));
        assertThat(messages.rows()).isEqualTo(1);
    }
}
