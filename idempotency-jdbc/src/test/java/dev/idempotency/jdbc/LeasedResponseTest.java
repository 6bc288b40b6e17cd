package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Request;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import java.util.Arrays;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases in the library's table, from the store: responses, failures, and a table that others use or that is not there. */
@ParameterizedClass
@EnumSource
class LeasedResponseTest {

    @AutoClose
    private final LeaseTable table;

    private final Request request = request("m1");
    private final Request both = request("m1").and(businessKey("b1"));

    LeasedResponseTest(TestDatabase database) {
        table = new LeaseTable(database);
    }

    @Test
    @DisplayName("A record of the transactional mode is seen as done, and one without a response as unreadable")
    void transactionalRecords_areDoneOrUnreadable() {
        RecordStore<String> transactional = JdbcStores.transactional(table.jdbi, Codec.utf8());
        transactional.execute(request, handle -> "written", (n, o, r) -> {});

        assertThat(answer(table.store(), request, "no"))
                .isEqualTo(new Replayed<>("written", messageKey("m1"), Outcome.Source.STORE));

        table.update("response = null");
        assertThatThrownBy(() -> answer(table.store(), request, "no")).isInstanceOf(UnreadableRecordException.class);
    }

    @Test
    @DisplayName("S12: a response that the codec can't encode: done, response unavailable, and not run again")
    void responseNotEncodable_isDoneWithoutIt() {
        Codec<String> codec = new Codec<>() {
            @Override
            public byte[] encode(String response) {
                throw new IllegalStateException("not encodable");
            }

            @Override
            public String decode(byte[] bytes) {
                return "";
            }
        };
        var store = JdbcStores.leased(table.jdbi, codec);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> answer(store, request, "ok")).isInstanceOf(ResponseUnavailableException.class);
        }
    }

    @Test
    @DisplayName("S12, K-2: a response of 16 MB comes back whole; an empty one as well")
    void largeAndEmptyResponses_comeBack() {
        String large = "é".repeat(8_500_000);
        assertThat(answer(table.store(), request, large)).isEqualTo(new Executed<>(large));
        assertThat(answer(table.store(), request, "no").response()).isEqualTo(large);
        answer(table.store(), request("empty"), "");
        assertThat(answer(table.store(), request("empty"), "no").response()).isEmpty();
    }

    @Test
    @DisplayName("K-6, R-10: released before the effect, at once and for everybody; kept after it; or as configured")
    void actionFails_releasesAsConfigured() {
        LeaseOptions options = LeaseOptions.defaults().lease(LEASE);
        var kept = table.store(options.releaseIf((failure, started) -> failure instanceof IllegalArgumentException));

        assertThatThrownBy(() -> kept.execute(
                        both, lease -> fail(lease, new IllegalStateException("x"), false), (n, o, r) -> {}))
                .hasMessage("x")
                .hasNoSuppressedExceptions();
        assertThat(answer(table.store(), both, "no")).isInstanceOf(InProgress.class);
        table.pass(LEASE);
        assertThatThrownBy(() -> kept.execute(
                        both, lease -> fail(lease, new IllegalArgumentException("y"), true), (n, o, r) -> {}))
                .hasMessage("y");
        assertThat(answer(table.store(), both, "at last")).isEqualTo(new Executed<>("at last"));
    }

    private static String fail(Lease lease, RuntimeException failure, boolean started) {
        if (started) {
            lease.effectStarts();
        }
        throw failure;
    }

    @Test
    @DisplayName("A table that is not there is told as such, at the start or at the first call")
    void tableMissing_isToldAsSuch() {
        assertThatThrownBy(() -> JdbcStores.leased(
                        table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.VALIDATE))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("elsewhere");
        var unchecked = JdbcStores.leased(table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.NONE);
        assertThatThrownBy(() -> answer(unchecked, request, "no")).isInstanceOf(StoreException.class);
        for (String name : Arrays.asList("", "a b", "a;drop table message")) {
            assertThatThrownBy(() ->
                            JdbcStores.leased(table.jdbi, Codec.utf8(), LeaseOptions.defaults(), name, Schema.NONE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        var created = JdbcStores.leased(table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.CREATE);
        assertThat(answer(created, request, "ok")).isEqualTo(new Executed<>("ok"));
        assertThat(table.count()).isZero();

        boolean indexOfATable =
                table.database == TestDatabase.MARIADB || table.database == TestDatabase.MARIADB_SNAPSHOT;
        table.direct.useHandle(
                handle -> handle.execute("drop index elsewhere_record_id" + (indexOfATable ? " on elsewhere" : "")));
        assertThatThrownBy(() -> JdbcStores.leased(
                        table.jdbi, Codec.utf8(), LeaseOptions.defaults(), "elsewhere", Schema.VALIDATE))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("record_id");
        JdbcStores.transactional(
                table.jdbi,
                Codec.utf8(),
                RecordTableOptions.defaults().table("elsewhere").schema(Schema.VALIDATE));
    }
}
