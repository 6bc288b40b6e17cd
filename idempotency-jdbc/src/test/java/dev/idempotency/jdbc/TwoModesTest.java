package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;

class TwoModesTest {

    private final Jdbi jdbi = Jdbi.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

    @Test
    void yourTable_repeat_isFoundByUniqueKey() {
        jdbi.useHandle(h -> h.execute(
                "create table message (id bigint generated always as identity primary key, sender varchar(191) not null,"
                        + " message_id varchar(255) not null, body varchar, unique (sender, message_id))"));
        JdbcStore<String> store = JdbcStores.yourTable(
                jdbi,
                (handle, key) -> handle.createQuery(
                                "select id, sender, message_id, body from message where sender = ? and message_id = ?")
                        .bind(0, key.scope())
                        .bind(1, key.id())
                        .map((rs, ctx) -> new Original<>(rs.getLong(1), rs.getString(4), null)
                                .recordedAs(IdempotencyKey.of("im", rs.getString(2), rs.getString(3))))
                        .findOne(),
                YourTableOptions.defaults().uniqueKey("message", "sender", "message_id"));
        Idempotency<Handle, String> sends = Idempotency.with(store).build();
        for (int i = 0; i < 6; i++) {
            Outcome<String> outcome = sends.execute(Request.of(IdempotencyKey.of("im", "ana", "1")), h -> {
                h.execute("insert into message (sender, message_id, body) values ('ana', '1', 'ok')");
                return "ok";
            });
            assertThat(outcome)
                    .isInstanceOf(i == 0 ? Outcome.Executed.class : Outcome.Replayed.class)
                    .extracting(Outcome::response)
                    .isEqualTo("ok");
        }
    }

    @Test
    void transactional_newNameBesideKnown_isRecorded() {
        RecordStore<String> store = JdbcStores.transactional(jdbi, Codec.utf8());
        Idempotency<Handle, String> sends = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        IdempotencyKey business = IdempotencyKey.of("notice", "erp", "b1");
        Request first = Request.of(IdempotencyKey.of("im", "ana", "1")).and(business);
        Request retry = Request.of(IdempotencyKey.of("im", "ana", "2")).and(business);
        assertThat(sends.execute(first, h -> "ok")).isEqualTo(new Outcome.Executed<>("ok"));
        assertThat(sends.execute(retry, h -> "again").response()).isEqualTo("ok");
        assertThat(store.execute(Request.of(retry.keys().get(0)), h -> "again", (n, o, r) -> {}))
                .isEqualTo(new Outcome.Replayed<>("ok", retry.keys().get(0), Outcome.Source.STORE));
        assertThat(sends.execute(retry, h -> "again"))
                .isEqualTo(new Outcome.Replayed<>("ok", retry.keys().get(0), Outcome.Source.WINDOW));
        assertThat(store.purge(100)).isZero();
    }
}
