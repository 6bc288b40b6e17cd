package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Request;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
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
}
