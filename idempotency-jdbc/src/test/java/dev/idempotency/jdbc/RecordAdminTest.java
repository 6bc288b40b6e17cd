package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Action;
import dev.idempotency.Codec;
import dev.idempotency.Fingerprint;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.LeaseLostException;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.Lease;
import dev.idempotency.window.CaffeineWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
class RecordAdminTest {

    @AutoClose
    private final LeaseTable table;

    private final Idempotency<Lease, String> payments;
    private final RecordAdmin admin;
    private final Request both = request("m1").and(businessKey("b1"));
    private final IdempotencyKey message = messageKey("m1");

    RecordAdminTest(TestDatabase database) {
        table = new LeaseTable(database);
        payments = Idempotency.with(table.store())
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();
        admin = JdbcStores.admin(table.jdbi, payments.window());
    }

    private RecordState state(IdempotencyKey key) {
        return admin.find(key).get(0).state();
    }

    @Test
    void find_byAnyName_tellsAllNames() {
        Holder holder = table.hold(both.fingerprint(Fingerprint.sha256("a")));

        for (IdempotencyKey key : both.keys()) {
            assertThat(admin.find(key)).extracting(RecordInfo::key).containsExactlyElementsOf(both.keysInByteOrder());
        }
        assertThat(admin.find(message)).allSatisfy(info -> {
            assertThat(info.record()).isEqualTo(holder.granted().identity());
            assertThat(info.state()).isEqualTo(RecordState.IN_PROGRESS);
            assertThat(info.token()).isEqualTo(holder.granted().token());
            assertThat(info.fingerprint()).isEqualTo(Fingerprint.sha256("a"));
            assertThat(info.leaseUntil()).isEqualTo(info.createdAt().plus(LEASE));
            assertThat(info.expiresAt()).isEqualTo(info.createdAt().plus(RETENTION));
        });
        assertThat(admin.find(messageKey("unknown"))).isEmpty();
    }

    @Test
    void states_areToldApart() {
        Holder holder = table.hold(both);
        assertThat(state(message)).isEqualTo(RecordState.IN_PROGRESS);
        table.pass(LEASE);
        assertThat(state(message)).isEqualTo(RecordState.LAPSED);
        table.update("lease_until = null");
        assertThat(state(message)).isEqualTo(RecordState.IN_PROGRESS);
        holder.complete("ok");
        assertThat(state(message)).isEqualTo(RecordState.COMPLETE);
        table.pass(RETENTION);
        assertThat(state(message)).isEqualTo(RecordState.EXPIRED);
        table.update("response = null, owner = null, expires_at = " + Long.MAX_VALUE);
        assertThat(state(message)).isEqualTo(RecordState.UNREADABLE);
    }

    @Test
    void list_byNamespaceAndState_isPaged() {
        List<IdempotencyKey> complete = new ArrayList<>();
        for (int i = 10; i < 35; i++) {
            Holder holder = table.hold(request("m" + i).and(businessKey("b" + i)));
            if (i % 5 != 0) {
                complete.add(messageKey("m" + i));
                holder.complete("ok");
            }
        }
        // A namespace that begins like another one is another one.
        table.hold(Request.of(IdempotencyKey.of("im2", "ana", "m1"))).complete("ok");

        List<IdempotencyKey> listed = new ArrayList<>();
        IdempotencyKey after = null;
        List<RecordInfo> page;
        do {
            page = admin.list("im", RecordState.COMPLETE, after, 7);
            page.forEach(info -> listed.add(info.key()));
            after = page.isEmpty() ? null : page.get(page.size() - 1).key();
        } while (page.size() == 7);

        assertThat(listed).isEqualTo(complete);
        assertThat(admin.list("im", RecordState.IN_PROGRESS, null, 100)).hasSize(5);
        assertThat(admin.list("im", RecordState.LAPSED, null, 100)).isEmpty();
        table.pass(LEASE);
        assertThat(admin.list("im", RecordState.IN_PROGRESS, null, 100)).isEmpty();
        assertThat(admin.list("im", RecordState.LAPSED, null, 100)).hasSize(5);
        assertThat(admin.list("im", RecordState.EXPIRED, null, 100)).isEmpty();
        table.pass(RETENTION);
        assertThat(admin.list("im", RecordState.EXPIRED, null, 100)).hasSize(25);
        assertThat(admin.list("im", RecordState.UNREADABLE, null, 100)).isEmpty();
        table.update("response = null, owner = null, expires_at = " + Long.MAX_VALUE);
        assertThat(admin.list("im", RecordState.UNREADABLE, null, 100)).hasSize(25);
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0, 10_001})
    @DisplayName("S13: a page out of range, no namespace, and a page after another namespace's key are refused")
    void list_outOfRange_isRefused(int limit) {
        assertThatThrownBy(() -> admin.list("im", RecordState.COMPLETE, null, limit))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> admin.list("", RecordState.COMPLETE, null, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> admin.list("notice", RecordState.COMPLETE, message, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> admin.purge(limit)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("S10: a stuck lease is released by any of its names; its holder is told that it has lost it")
    void release_ofAHeldLease_freesAllNames() {
        assertThatThrownBy(() -> payments.execute(both, lease -> {
                    assertThat(admin.release(businessKey("b1"))).isTrue();
                    return "late";
                }))
                .isInstanceOf(LeaseLostException.class);

        assertThat(table.count()).isZero();
        assertThat(payments.execute(both, lease -> "next")).isEqualTo(new Executed<>("next"));
        assertThat(admin.release(message)).as("of a complete record").isFalse();
        assertThat(admin.release(messageKey("unknown"))).isFalse();
    }

    @Test
    @DisplayName("S10: a stuck record is completed under all its names; its holder completes no more")
    void complete_ofAHeldLease_answersUnderAllNames() {
        assertThatThrownBy(() -> payments.execute(both, lease -> {
                    assertThat(admin.complete(message, Codec.utf8(), "by hand", Duration.ofHours(1)))
                            .isTrue();
                    return "late";
                }))
                .isInstanceOf(LeaseLostException.class);

        for (IdempotencyKey key : both.keys()) {
            assertThat(payments.execute(Request.of(key), lease -> "no"))
                    .isEqualTo(new Replayed<>("by hand", key, Source.STORE));
        }
        assertThat(admin.complete(message, Codec.utf8(), "again", Duration.ofHours(1)))
                .isFalse();
        assertThat(admin.complete(messageKey("unknown"), Codec.utf8(), "x", Duration.ofHours(1)))
                .isFalse();
        table.pass(Duration.ofHours(1));
        assertThat(state(message)).isEqualTo(RecordState.EXPIRED);
    }

    @Test
    @DisplayName("S12: completed with null; and an unreadable record is repaired, and not released")
    void complete_withNullAndOfAnUnreadableRecord() {
        RecordStore<@Nullable String> transactional = nullable();
        transactional.execute(both, handle -> "written", (n, o, r) -> {});
        table.update("response = null");

        assertThat(admin.release(message)).isFalse();
        assertThat(admin.complete(message, Codec.utf8(), null, Duration.ofHours(1)))
                .isTrue();
        assertThat(transactional.execute(both, handle -> "no", (n, o, r) -> {}).response())
                .isNull();
    }

    @SuppressWarnings("NullAway") // A codec never sees null; the store keeps a null response as such.
    private RecordStore<@Nullable String> nullable() {
        return JdbcStores.transactional(table.jdbi, Codec.utf8());
    }

    @Test
    @DisplayName("W1: what is forgotten goes from the table and from the windows, under all names, in both modes")
    void forget_goesFromTheWindowsToo() {
        Idempotency<Handle, String> sends = Idempotency.with(JdbcStores.transactional(table.jdbi, Codec.utf8()))
                .window(CaffeineWindow.lasting(Duration.ofMinutes(5)))
                .build();
        RecordAdmin ofBoth = JdbcStores.admin(table.jdbi, payments.window(), sends.window());
        Request sent = request("m2").and(businessKey("b2"));
        payments.execute(both, lease -> "paid");
        sends.execute(sent, handle -> "sent");
        assertThat(payments.execute(both, lease -> "no")).isEqualTo(new Replayed<>("paid", message, Source.WINDOW));

        assertThat(ofBoth.forget(businessKey("b1"))).isTrue();
        assertThat(ofBoth.forget(businessKey("b2"))).isTrue();
        assertThat(ofBoth.forget(businessKey("b2"))).isFalse();

        assertThat(table.count()).isZero();
        assertThat(payments.execute(both, lease -> "paid again")).isEqualTo(new Executed<>("paid again"));
        assertThat(sends.execute(sent, handle -> "sent again")).isEqualTo(new Executed<>("sent again"));
    }

    @Test
    @DisplayName("W1: a call under way while its key is forgotten does not bring it back into the window")
    void forget_whileACallIsUnderWay_isNotPublished() {
        payments.execute(both, lease -> "paid");
        payments.window().clear();
        Idempotency<Lease, String> sameWindow = payments.using(new IdempotencyStore<Lease, String>() {
            @Override
            public <X extends Exception> Outcome<String> execute(
                    Request request,
                    Action<? super Lease, ? extends String, X> action,
                    Publication<? super String> publication)
                    throws X {
                return table.store().execute(request, action, (names, original, remaining) -> {
                    admin.forget(message);
                    publication.committed(names, original, remaining);
                });
            }
        });
        assertThat(sameWindow.execute(both, lease -> "no").response()).isEqualTo("paid");

        assertThat(payments.execute(both, lease -> "paid again")).isEqualTo(new Executed<>("paid again"));
    }

    @Test
    void tableMissing_isToldAsSuch() {
        RecordAdmin elsewhere = JdbcStores.admin(table.jdbi, "elsewhere");
        assertThatThrownBy(() -> elsewhere.find(message)).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> elsewhere.forget(message)).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> JdbcStores.admin(table.jdbi, "a;b")).isInstanceOf(IllegalArgumentException.class);
    }
}
