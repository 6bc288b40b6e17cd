package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.testkit.faults.Fault;
import dev.idempotency.window.CaffeineWindow;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The library's table: names, expiry, purge, schema. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class RecordTableTest {

    private final TestDatabase database;
    private final Messages messages;
    private final RecordStore<String> store;

    RecordTableTest(TestDatabase database) {
        this.database = database;
        messages = new Messages(database);
        store = JdbcStores.transactional(messages.jdbi, Codec.utf8());
    }

    private void expireAll() {
        messages.jdbi.useHandle(handle -> handle.execute("update idempotency_record set expires_at = 1"));
    }

    private int records() {
        return messages.jdbi.withHandle(handle -> handle.createQuery("select count(*) from idempotency_record")
                .mapTo(Integer.class)
                .one());
    }

    private Request store(String messageId) {
        Request request = request(messageId);
        assertThat(store.execute(request, insert(request, "ok"), (n, o, r) -> {}))
                .isInstanceOf(Executed.class);
        return request;
    }

    @Test
    @DisplayName("J-8: m3 beside the known b1 becomes one more name, with its own copy of everything")
    void newNameBesideKnown_standsByItself() {
        Request first = request("m1").and(businessKey("b1"));
        Request retry = request("m3").and(businessKey("b1"));
        store.execute(first, insert(first, "ok"), (n, o, r) -> {});
        store.execute(retry, insert(retry, "no"), (n, o, r) -> {});

        // The other names' rows go: there is no pointer that could break.
        messages.jdbi.useHandle(handle -> handle.execute(
                "delete from idempotency_record where idempotency_key <> ?",
                messageKey("m3").toBytes()));

        assertThat(store.execute(request("m3"), insert(request("m3"), "no"), (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("ok", messageKey("m3"), Source.STORE));
        assertThat(messages.rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("S11: an expired record counts as absent and is taken over in one transaction")
    void expiredRecord_isTakenOver() {
        Request request = Request.of(messageKey("m1"));
        store.execute(request, handle -> "old", (n, o, r) -> {});
        expireAll();

        assertThatThrownBy(() -> store.<IllegalStateException>execute(
                        request,
                        handle -> {
                            throw new IllegalStateException("action");
                        },
                        (n, o, r) -> {}))
                .isInstanceOf(IllegalStateException.class);
        assertThat(records()).as("the failed take-over has left the old record").isEqualTo(1);

        assertThat(store.execute(request, handle -> "new", (n, o, r) -> {})).isEqualTo(new Executed<>("new"));
        assertThat(store.execute(request, handle -> "no", (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("new", messageKey("m1"), Source.STORE));
    }

    @Test
    @DisplayName("S11: an expired name beside a live one is replaced, and belongs to the live record")
    void expiredNameBesideLive_joinsTheLiveRecord() {
        store.execute(request("m1"), handle -> "old", (n, o, r) -> {});
        expireAll();
        Request live = Request.of(businessKey("b1"));
        store.execute(live, handle -> "live", (n, o, r) -> {});

        assertThat(store.execute(request("m1").and(businessKey("b1")), handle -> "no", (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("live", businessKey("b1"), Source.STORE));
        assertThat(store.execute(request("m1"), handle -> "no", (n, o, r) -> {}))
                .isEqualTo(new Replayed<>("live", messageKey("m1"), Source.STORE));
    }

    @Test
    @DisplayName("S8, S11: an original that expires and is replaced before its new name is written: read again")
    void originalReplacedBeforeNewName_isReadAgain() {
        RecordStore<String> another = JdbcStores.transactional(messages.jdbi, Codec.utf8());
        Request both = request("m1").and(businessKey("b1"));
        store.execute(request("m1"), handle -> "old", (n, o, r) -> {});
        boolean[] replaced = new boolean[1];
        messages.dataSource.fault(new Fault() {
            @Override
            public void before(@Nullable Connection real, String call) {
                // Between the read of the original and the copy of it.
                if (call.startsWith("DELETE") && !replaced[0]) {
                    replaced[0] = true;
                    expireAll();
                    another.execute(request("m1"), handle -> "new", (n, o, r) -> {});
                }
            }
        });

        String told = store.execute(both, handle -> "no", (n, o, r) -> {}).response();

        assertThat(replaced[0]).isTrue();
        assertThat(store.execute(Request.of(businessKey("b1")), handle -> "no", (n, o, r) -> {})
                        .response())
                .isEqualTo(told)
                .isEqualTo("new");
    }

    @Test
    @DisplayName("W3, W-10: the window serves a record no longer than the store keeps it")
    void publicationTellsWhatRemains() {
        Request request = store("m1");
        messages.jdbi.useHandle(handle -> handle.execute(
                "update idempotency_record set expires_at = ?",
                ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now().plusSeconds(3))));
        Duration[] remaining = new Duration[1];

        store.execute(request, handle -> "no", (names, original, left) -> remaining[0] = left);

        assertThat(remaining[0]).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(3));
    }

    @Test
    @DisplayName("W3: a window longer than the retention is refused when built")
    void windowLongerThanRetention_isRefused() {
        RecordStore<String> brief = JdbcStores.transactional(
                messages.jdbi, Codec.utf8(), RecordTableOptions.defaults().retention(Duration.ofSeconds(31)));
        Idempotency.Builder<Handle, String> builder =
                Idempotency.with(brief).window(CaffeineWindow.lasting(Duration.ofSeconds(32)));

        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("retention");
        assertThatThrownBy(() -> Idempotency.with(JdbcStores.yourTable(
                                messages.jdbi,
                                Messages::find,
                                YourTableOptions.defaults().rowsStayFor(Duration.ofSeconds(31))))
                        .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                        .build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("S11: purge removes expired rows alone, in batches")
    void purge_removesExpiredInBatches() {
        for (int i = 0; i < 25; i++) {
            store("m" + i);
        }
        expireAll();
        Request live = store("live");

        assertThat(store.purge(10)).isEqualTo(10);
        assertThat(store.purge(10)).isEqualTo(10);
        assertThat(store.purge(10)).isEqualTo(5);
        assertThat(store.purge(10)).isZero();

        assertThat(records()).isEqualTo(1);
        assertThat(store.execute(live, insert(live, "no"), (n, o, r) -> {})).isInstanceOf(Replayed.class);
    }

    @Test
    @DisplayName("S11, L-13: purge passes over a record that a live call is taking over, and blocks nobody")
    void purge_passesOverLockedRecord() {
        Request expired = Request.of(messageKey("m1"));
        store.execute(expired, handle -> "old", (n, o, r) -> {});
        store.execute(request("m2"), handle -> "old", (n, o, r) -> {});
        expireAll();
        int[] purged = new int[1];

        assertThat(store.execute(
                        expired,
                        handle -> {
                            purged[0] = store.purge(10);
                            return "new";
                        },
                        (n, o, r) -> {}))
                .isEqualTo(new Executed<>("new"));

        assertThat(purged[0]).isEqualTo(1);
        assertThat(store.execute(expired, handle -> "no", (n, o, r) -> {}).response())
                .isEqualTo("new");
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0, 10_001})
    @DisplayName("S13: a batch size out of range is refused")
    void purge_batchOutOfRange_isRefused(int batchSize) {
        assertThatThrownBy(() -> store.purge(batchSize)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("J-16: the expiry does not depend on the zone of the process")
    void expiry_isTheSameInEachZone() {
        TimeZone before = TimeZone.getDefault();
        try {
            for (String zone : List.of("Europe/Berlin", "Pacific/Auckland", "UTC")) {
                TimeZone.setDefault(TimeZone.getTimeZone(zone));
                long from = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
                store("m-" + zone);
                long expires = messages.jdbi.withHandle(
                        handle -> handle.createQuery("select max(expires_at) from idempotency_record")
                                .mapTo(Long.class)
                                .one());
                long to = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
                long retention = Duration.ofDays(7).toMillis() * 1_000;
                assertThat(expires).isBetween(from + retention, to + retention);
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @Test
    @DisplayName("K-2: a large response, and one that fills a row, come back whole")
    void largeResponse_comesBack() {
        String large = "é".repeat(8_500_000);
        Request request = request("large");

        store.execute(request, handle -> large, (n, o, r) -> {});

        assertThat(store.execute(request, handle -> "no", (n, o, r) -> {}).response())
                .isEqualTo(large);
    }

    @Test
    @DisplayName("The schema is created, validated, or left alone, as the user chooses")
    void schema_asTheUserChooses() {
        // On MariaDB a schema is a database, and the server keeps it.
        String schema = "app_" + UUID.randomUUID().toString().replace('-', '_');
        RecordTableOptions elsewhere = RecordTableOptions.defaults().table(schema + ".deduplication");
        messages.jdbi.useHandle(handle -> handle.execute("create schema " + schema));

        assertThatThrownBy(
                        () -> JdbcStores.transactional(messages.jdbi, Codec.utf8(), elsewhere.schema(Schema.VALIDATE)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(schema + ".deduplication");
        JdbcStores.transactional(messages.jdbi, Codec.utf8(), elsewhere.schema(Schema.CREATE));
        JdbcStores.transactional(messages.jdbi, Codec.utf8(), elsewhere.schema(Schema.CREATE));
        RecordStore<String> validated =
                JdbcStores.transactional(messages.jdbi, Codec.utf8(), elsewhere.schema(Schema.VALIDATE));

        validated.execute(request("m1"), handle -> "ok", (n, o, r) -> {});
        assertThat(records()).isZero();

        boolean named = database == TestDatabase.POSTGRESQL_14 || database == TestDatabase.POSTGRESQL_17;
        messages.jdbi.useHandle(handle -> handle.execute("alter table " + schema + ".deduplication drop "
                + (named ? "constraint deduplication_pkey" : "primary key")));
        assertThatThrownBy(
                        () -> JdbcStores.transactional(messages.jdbi, Codec.utf8(), elsewhere.schema(Schema.VALIDATE)))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("unique key");
        JdbcStores.transactional(messages.jdbi, Codec.utf8(), elsewhere.schema(Schema.NONE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a;drop table message", "a.b.c", "\"a\"", "1a", "a--", "é"})
    @DisplayName("S13: a table name that could carry SQL is refused")
    void tableName_thatCouldCarrySql_isRefused(String name) {
        assertThatThrownBy(() -> RecordTableOptions.defaults().table(name))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("S13, L-2: durations of zero, below zero and beyond reason are refused when configured")
    void durations_outOfRange_areRefused() {
        List<Duration> never = List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE));
        for (Duration wrong : List.of(Duration.ZERO, Duration.ofNanos(1), never.get(0), never.get(1))) {
            assertThatThrownBy(() -> RecordTableOptions.defaults().retention(wrong))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> YourTableOptions.defaults().rowsStayFor(wrong))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (Duration wrong : never) {
            assertThatThrownBy(() -> RecordTableOptions.defaults().waitAtMost(wrong))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> YourTableOptions.defaults().waitAtMost(wrong))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @DisplayName("S7: the start-up check refuses a missing unique key and columns that compare loosely")
    void uniqueKeyCheck_refusesWhatWouldNotGuard() {
        List<String> wrong = new ArrayList<>(List.of("no_key", "padded", "partly", "missing"));
        messages.jdbi.useHandle(handle -> {
            handle.execute(database.sql("create table no_key (sender KEY(20), message_id KEY(20))"));
            handle.execute(database.sql(
                    "create table padded (sender char(20), message_id KEY(20), unique (sender, message_id))"));
            handle.execute(database.sql("create table partly (sender KEY(20), message_id KEY(20) unique)"));
            for (String type : database.looseTypes()) {
                String loose = "loose_" + wrong.size();
                handle.execute(database.sql("create table " + loose + " (sender " + type
                        + ", message_id KEY(20), unique (sender, message_id))"));
                wrong.add(loose);
            }
            if (database == TestDatabase.MARIADB) {
                handle.execute(database.sql(
                        "create table cut (sender KEY(20), message_id KEY(20), unique (sender, message_id(5)))"));
                wrong.add("cut");
            }
        });

        for (String table : wrong) {
            assertThatThrownBy(() -> JdbcStores.yourTable(
                            messages.jdbi,
                            Messages::find,
                            YourTableOptions.defaults().uniqueKey(table, "sender", "message_id")))
                    .as(table)
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining(table);
        }
        messages.jdbi.useHandle(handle -> handle.execute(
                database.sql("create table exact (sender BYTES, message_id KEY(20), unique (sender, message_id))")));
        JdbcStores.yourTable(
                messages.jdbi,
                Messages::find,
                YourTableOptions.defaults()
                        .uniqueKey("message", "message_id", "sender")
                        .uniqueKey("message", "origin", "business_id")
                        .uniqueKey("exact", "sender", "message_id"));
    }

    @Test
    @DisplayName("S7: the start-up check refuses a database whose collation ignores case")
    void uniqueKeyCheck_refusesLooseCollation() {
        Jdbi loose = Jdbi.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        loose.useHandle(handle -> {
            handle.execute("set collation english strength primary");
            handle.execute("create table message (sender varchar, message_id varbinary, unique (sender, message_id))");
        });

        assertThatThrownBy(() -> JdbcStores.yourTable(
                        loose,
                        Messages::find,
                        YourTableOptions.defaults().uniqueKey("message", "sender", "message_id")))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("SENDER");
    }

    @Test
    @DisplayName("A plain data source does as well as a Jdbi")
    void plainDataSource_works() {
        RecordStore<String> plain =
                JdbcStores.transactional(messages.dataSource, Codec.utf8(), RecordTableOptions.defaults());
        Request request = store("m1");

        assertThat(plain.execute(request, handle -> "no", (n, o, r) -> {})).isInstanceOf(Replayed.class);
    }

    @Test
    @DisplayName("An unreachable database is told when the store is made")
    void unreachableDatabase_isToldAtStart() {
        Jdbi nowhere = Jdbi.create("jdbc:h2:file:relative/path/is/not/allowed");

        assertThatThrownBy(() -> JdbcStores.transactional(nowhere, Codec.utf8()))
                .isInstanceOf(StoreException.class);
    }
}
