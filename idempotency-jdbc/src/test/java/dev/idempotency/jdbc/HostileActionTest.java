package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Actions that do what an action should not. */
class HostileActionTest {

    enum Mode {
        YOUR_TABLE,
        TRANSACTIONAL
    }

    private final Messages messages = new Messages();
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
}
