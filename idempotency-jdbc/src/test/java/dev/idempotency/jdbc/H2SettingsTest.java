package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Databases whose H2 is set to look like another one, or to compare texts otherwise. */
class H2SettingsTest {

    private static Jdbi database(String settings) {
        return Jdbi.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1" + settings);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=STRICT",
                "MODE=LEGACY",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE",
                "MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "MODE=MariaDB",
                "MODE=Oracle",
                "MODE=MSSQLServer",
                "MODE=DB2",
                "MODE=Derby",
                "MODE=HSQLDB",
                "DATABASE_TO_UPPER=FALSE",
                "IGNORECASE=TRUE"
            })
    @DisplayName("The library's table works in each mode of H2: it is created, replayed from, and purged")
    void libraryTable_worksInEachMode(String settings) {
        Jdbi jdbi = database(";" + settings);
        RecordStore<String> store = JdbcStores.transactional(jdbi, Codec.utf8());
        Request request = request("m1");

        assertThat(store.execute(request, handle -> "ok", (n, o, r) -> {})).isInstanceOf(Executed.class);
        assertThat(store.execute(request, handle -> "no", (n, o, r) -> {}).response())
                .isEqualTo("ok");
        assertThat(store.execute(request("M1"), handle -> "other", (n, o, r) -> {}))
                .isInstanceOf(Executed.class);

        jdbi.useHandle(handle -> handle.execute("update idempotency_record set expires_at = 1"));
        assertThat(store.purge(1)).isEqualTo(1);
        assertThat(store.purge(10)).isEqualTo(1);
    }

    @Test
    @DisplayName("S7: the start-up check looks at the table that is named, and not at others that its name matches")
    void uniqueKeyCheck_looksAtThatTableAlone() {
        Jdbi jdbi = database(";DATABASE_TO_LOWER=TRUE");
        jdbi.useHandle(handle -> {
            handle.execute("create table in_box (sender varchar_ignorecase, id varchar, unique (sender, id))");
            // An underscore stands for any letter in the patterns of database metadata.
            handle.execute("create table inxbox (sender varchar, id varchar)");
            handle.execute("create table out_box (sender varchar, id varchar, unique (sender, id))");
            handle.execute("create table outxbox (sender varchar_ignorecase, id varchar)");
        });

        assertThatThrownBy(() -> JdbcStores.yourTable(
                        jdbi, Messages::find, YourTableOptions.defaults().uniqueKey("in_box", "sender", "id")))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("varchar_ignorecase");
        JdbcStores.yourTable(jdbi, Messages::find, YourTableOptions.defaults().uniqueKey("out_box", "sender", "id"));
    }
}
