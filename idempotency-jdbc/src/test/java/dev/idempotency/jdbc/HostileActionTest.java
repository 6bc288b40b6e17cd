package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Actions that do what an action should not. */
class HostileActionTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    enum Ending {
        ROLLBACK,
        ROLLBACK_AND_BEGIN,
        ROLLBACK_OF_A_NESTED_BEGIN,
        COMMIT_AND_ROLLBACK
    }

    private final Messages messages = new Messages(TestDatabase.H2);
    private final Request request = request("m1");
    private final List<IdempotencyKey> published = new ArrayList<>();

    private JdbcStore<String> store(Mode mode) {
        return mode == Mode.YOUR_TABLE ? messages.store() : JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2: an InterruptedException of the action passes unchanged, and is not taken for one of waiting")
    void actionThrowsInterruptedException_isThrownUnchanged(Mode mode) {
        JdbcStore<String> store = store(mode);
        InterruptedException failure = new InterruptedException("action");

        assertThatThrownBy(() -> store.<InterruptedException>execute(
                        request,
                        handle -> {
                            insert(handle, request, "half");
                            throw failure;
                        },
                        (names, original, remaining) -> published.addAll(names)))
                .isSameAs(failure);

        assertThat(Thread.interrupted()).isFalse();
        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
        assertThat(store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(Executed.class);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "W1, S1: own table: an action that ends the transaction through its handle is told so, nothing published")
    void actionEndsTransaction_isAnError(Ending ending) {
        JdbcStore<String> store = store(Mode.YOUR_TABLE);

        assertThatThrownBy(() -> store.execute(
                        request,
                        handle -> ended(handle, ending),
                        (names, original, remaining) -> published.addAll(names)))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessageContaining("neither commit nor roll back");

        assertThat(published).isEmpty();
        assertThat(messages.rows()).isZero();
        assertThat(messages.dataSource.openConnections()).isZero();
    }

    private String ended(Handle handle, Ending how) {
        switch (how) {
            case ROLLBACK -> insertAnd(handle).rollback();
            case ROLLBACK_AND_BEGIN -> insertAnd(handle).rollback().begin();
            case ROLLBACK_OF_A_NESTED_BEGIN -> insertAnd(handle.begin()).rollback();
            case COMMIT_AND_ROLLBACK -> insertAnd(handle.commit().begin()).rollback();
        }
        return "gone";
    }

    private Handle insertAnd(Handle handle) {
        insert(handle, request, "gone");
        return handle;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("W-2: somebody's after-commit callback throws an Error: the row stays, the call succeeds all the same")
    void afterCommitCallbackThrowsError_callSucceeds(Mode mode) {
        JdbcStore<String> store = store(mode);
        Outcome<String> outcome = store.execute(
                request,
                handle -> {
                    handle.afterCommit(() -> {
                        throw new AssertionError("callback");
                    });
                    return insert(handle, request, "ok");
                },
                (names, original, remaining) -> published.addAll(names));

        assertThat(outcome).isInstanceOf(Executed.class);
        assertThat(published).hasSize(1);
        assertThat(messages.rows()).isEqualTo(1);
    }
}
