package dev.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Outcome.Conflict;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class OutcomeTest {

    @Test
    @DisplayName("A refused outcome has no response: a typed exception says why")
    void refusedResponse_throws() {
        Outcome<String> refused =
                new Conflict<>(List.of(IdempotencyKey.of("im", "ana", "1"), IdempotencyKey.of("im", "ana", "2")));
        assertThatThrownBy(refused::response)
                .isInstanceOfSatisfying(
                        RefusedException.class, e -> assertThat(e.refused()).isSameAs(refused));
    }
}
