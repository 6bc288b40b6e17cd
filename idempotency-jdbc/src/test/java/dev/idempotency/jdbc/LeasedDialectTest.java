package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.LeaseTable.LEASE;
import static dev.idempotency.jdbc.LeaseTable.RETENTION;
import static dev.idempotency.jdbc.LeaseTable.answer;
import static dev.idempotency.jdbc.LeaseTable.response;
import static dev.idempotency.jdbc.Messages.businessKey;
import static dev.idempotency.jdbc.Messages.messageKey;
import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mysql.cj.jdbc.MysqlDataSource;
import dev.idempotency.Codec;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.ResponseUnavailableException;
import dev.idempotency.StoreException;
import dev.idempotency.jdbc.LeaseTable.Holder;
import dev.idempotency.store.LeaseBackend.Claim;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What leases meet on one database and not on the others, and what drivers' options change. */
class LeasedDialectTest {

    @ParameterizedTest
    @CsvSource({"MARIADB, true, false", "MARIADB, false, true", "MARIADB_SNAPSHOT, true, true"})
    @DisplayName("J-4: MariaDB, useAffectedRows and prepared statements of the server on and off: the same verdicts")
    void mariadb_driverOptions_changeNothing(TestDatabase database, boolean affected, boolean prepared) {
        try (LeaseTable table =
                new LeaseTable(database, null, "useAffectedRows=" + affected, "useServerPrepStmts=" + prepared)) {
            verdicts(table, table.leases);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @DisplayName("PostgreSQL, statements prepared at the server never and at once: the same verdicts")
    void postgresql_preparedStatements_changeNothing(int threshold) {
        try (LeaseTable table = new LeaseTable(TestDatabase.POSTGRESQL_14, null, "prepareThreshold=" + threshold)) {
            verdicts(table, table.leases);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("J-4: MariaDB through MySQL's driver, useAffectedRows on and off; and by MySQL's own statements")
    void mariadb_throughMysqlDriver_answersTheSame(boolean affected) throws SQLException {
        try (LeaseTable table = new LeaseTable(TestDatabase.MARIADB)) {
            MysqlDataSource mysql = new MysqlDataSource();
            try (Connection connection = table.dataSource.getConnection()) {
                DatabaseMetaData metaData = connection.getMetaData();
                mysql.setUrl(metaData.getURL().replaceAll("\\?.*", "").replace("jdbc:mariadb:", "jdbc:mysql:")
                        + "?user=root&useAffectedRows=" + affected);
            }
            Database asMariadb = Database.of(Jdbi.create(mysql));
            assertThat(asMariadb.dialect()).isSameAs(Dialect.MARIADB);
            TableName name = TableName.of("idempotency_record");
            verdicts(table, new JdbcLeases(asMariadb, name));
            table.direct.useHandle(handle -> handle.execute("delete from idempotency_record"));

            Database asMysql = new Database(asMariadb.jdbi(), Dialect.MYSQL, true, false, List.of());
            verdicts(table, new JdbcLeases(asMysql, name));
        }
    }

    /** What the four primitives answer, where a change that changes nothing is among them. */
    private static void verdicts(LeaseTable table, JdbcLeases leases) {
        Request both = request("m1").and(businessKey("b1"));
        Request other = request("m2").and(businessKey("b1"));
        Holder a = LeaseTable.hold(leases, both);
        assertThat(a.granted().token()).isEqualTo(table.column("token", messageKey("m1")));
        assertThat(table.column("token", businessKey("b1")))
                .isEqualTo(a.granted().token());
        assertThat(leases.claim(both, a.owner(), LEASE, RETENTION)).isEqualTo(a.granted());
        assertThat(a.extend(Duration.ofMillis(1)))
                .as("extension that changes nothing")
                .isTrue();
        assertThat(a.extend(Duration.ofHours(1))).isTrue();
        assertThat(table.column("lease_until", messageKey("m1")))
                .isEqualTo(table.column("lease_until", businessKey("b1")));
        table.pass(Duration.ofHours(1));

        Holder b = LeaseTable.hold(leases, other);
        assertThat(b.granted().takenOver()).isTrue();
        assertThat(b.granted().token()).isGreaterThan(a.granted().token());
        assertThat(a.extend(LEASE)).isFalse();
        assertThat(a.release()).isFalse();
        assertThat(a.complete("late")).isFalse();
        assertThat(b.extend(Duration.ofMillis(1)))
                .as("extension that changes nothing")
                .isTrue();
        assertThat(b.release()).isTrue();
        assertThat(b.release()).as("repeated").isTrue();
        Holder c = LeaseTable.hold(leases, both);
        assertThat(c.granted().takenOver()).isTrue();
        assertThat(c.complete("c")).isTrue();
        assertThat(c.complete("c")).as("repeated, which changes nothing").isTrue();
        assertThat(c.release()).isFalse();
        assertThat(response(claim(leases, other))).isEqualTo("c");
        assertThat(response(claim(leases, request("m3").and(businessKey("b1")))))
                .isEqualTo("c");
        assertThat(response(claim(leases, request("m3")))).isEqualTo("c");

        Holder released = LeaseTable.hold(leases, request("m4"));
        assertThat(released.release()).isTrue();
        table.pass(RETENTION);
        Holder again = LeaseTable.hold(leases, both);
        assertThat(again.granted().takenOver()).isFalse();
        assertThat(again.granted().token()).isGreaterThan(c.granted().token());
    }

    private static Claim claim(JdbcLeases leases, Request request) {
        return leases.claim(request, UUID.randomUUID(), LEASE, RETENTION);
    }

    @Test
    @DisplayName("S12: MariaDB, a response larger than a packet may be: done, response unavailable, and not run again")
    void mariadb_responseTooLarge_isDoneWithoutIt() {
        try (LeaseTable table = new LeaseTable(TestDatabase.MARIADB)) {
            String tooLarge = "x".repeat(70 << 20);
            assertThatThrownBy(() -> answer(table.store(), request("m1"), tooLarge))
                    .isInstanceOf(ResponseUnavailableException.class);
            assertThatThrownBy(() -> answer(table.store(), request("m1"), "no"))
                    .isInstanceOf(ResponseUnavailableException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("MariaDB's rows know what time it is whatever the zone of the session is")
    void mariadb_zoneOfTheSession_changesNothing(boolean east) {
        String zone = east ? "+13:00" : "-12:00";
        try (LeaseTable table = new LeaseTable(
                        TestDatabase.MARIADB,
                        null,
                        "connectionTimeZone=" + zone + "&forceConnectionTimeZoneToSession=true");
                LeaseTable plain = new LeaseTable(TestDatabase.MARIADB)) {
            table.hold(request("m1"));
            plain.hold(request("m1"));
            long apart = table.column("created_at", messageKey("m1")) - plain.column("created_at", messageKey("m1"));
            assertThat(Math.abs(apart)).isLessThan(Duration.ofMinutes(5).toNanos() / 1_000);
        }
    }

    @Test
    @DisplayName("An unknown database: leases and admin are refused with what works instead")
    void unknownDatabase_isRefused() {
        Jdbi unknown = Jdbi.create(DialectTest.renamed());
        assertThatThrownBy(() -> JdbcStores.leased(unknown, Codec.utf8()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("yourTable");
        assertThatThrownBy(() -> JdbcStores.admin(unknown)).isInstanceOf(StoreException.class);
    }

    @Test
    @DisplayName("PostgreSQL, a pool whose connections come without autocommit and at SERIALIZABLE: the same verdicts")
    void postgresql_withoutAutocommitAtSerializable_answersTheSame() {
        try (LeaseTable table = new LeaseTable(TestDatabase.POSTGRESQL_14)) {
            Jdbi jdbi = Jdbi.create(() -> {
                Connection connection = table.dataSource.getConnection();
                connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                connection.setAutoCommit(false);
                return connection;
            });
            verdicts(table, new JdbcLeases(Database.of(jdbi), TableName.of("idempotency_record")));
            assertThat(answer(JdbcStores.leased(jdbi, Codec.utf8()), request("m9"), "ok"))
                    .isEqualTo(new Executed<>("ok"));
            table.hold(request("m10"));
            assertThat(answer(JdbcStores.leased(jdbi, Codec.utf8()), request("m10"), "no"))
                    .isInstanceOf(InProgress.class);
        }
    }
}
