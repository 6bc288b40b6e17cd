package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.messageKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.ChildJvm;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TwoZonesTest {

    /** A summer time that begins at two at night, and a zone on the other side of the date line. */
    private static final List<String> ZONES = List.of("America/New_York", "Pacific/Apia");

    /** 02:30 in New York in a night of next year that has no such time. */
    private static Instant inTheGap() {
        return LocalDate.now(ZoneOffset.UTC)
                .plusYears(1)
                .withMonth(3)
                .with(TemporalAdjusters.dayOfWeekInMonth(2, DayOfWeek.SUNDAY))
                .atTime(7, 30)
                .toInstant(ZoneOffset.UTC);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MARIADB_SNAPSHOT")
    @DisplayName(
            "J-16, L-7: one process writes, another in another zone reads, claims, and sees it expire: the same times")
    void twoProcessesInTwoZones_seeTheSameTimes(TestDatabase database, @TempDir Path folder) throws Exception {
        String h2 = "file:" + folder.resolve("db") + ";AUTO_SERVER=TRUE";
        DataSource dataSource = database == TestDatabase.H2 ? TestDatabase.h2(h2) : database.fresh();
        // Whoever opens a file first serves it to the others, so this process stays with it.
        try (Handle handle = Jdbi.create(dataSource).open()) {
            String url = database == TestDatabase.H2 ? "jdbc:h2:" + h2 : url(dataSource);
            List<String> written = server(ZONES.get(0), url, "write");
            long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
            for (String line :
                    written.stream().filter(each -> each.startsWith("times")).toList()) {
                long[] times = times(line);
                assertThat(Duration.of(now - times[0], ChronoUnit.MICROS).abs())
                        .as("time of writing")
                        .isLessThan(Duration.ofMinutes(10));
                assertThat(times[1] - times[0])
                        .as("retention")
                        .isBetween(micros(ZonedServer.RETENTION), micros(ZonedServer.RETENTION.plusMinutes(5)));
                assertThat(times[2] - times[0])
                        .as("lease")
                        .isBetween(micros(ZonedServer.LEASE), micros(ZonedServer.LEASE) + 1_000);
            }

            List<String> read = server(ZONES.get(1), url, "read");
            assertThat(read.subList(0, 4)).as("what both see").isEqualTo(written);
            assertThat(read.subList(4, 6)).containsExactly("answer Replayed", "answer InProgress");
            assertThat(Integer.parseInt(read.get(6).substring("minutes ".length())))
                    .isBetween(10, 20);

            long gap = ChronoUnit.MICROS.between(Instant.EPOCH, inTheGap());
            handle.execute("update idempotency_record set expires_at = ?, lease_until = ?", gap, gap);
            List<String> before = server(ZONES.get(0), url, "read");
            assertThat(before.get(0)).contains(" " + gap + " " + gap);
            assertThat(server(ZONES.get(1), url, "read").subList(0, 6)).isEqualTo(before.subList(0, 6));

            handle.execute(
                    "update idempotency_record set lease_until = 1 where idempotency_key = ?",
                    messageKey("held").toBytes());
            handle.execute(
                    "update idempotency_record set expires_at = ? where idempotency_key = ?",
                    now,
                    messageKey("complete").toBytes());
            List<String> over = server(ZONES.get(1), url, "read");
            assertThat(over)
                    .contains("state EXPIRED", "state LAPSED")
                    .filteredOn("answer Executed"::equals)
                    .hasSize(2);
            assertThat(server(ZONES.get(0), url, "read"))
                    .filteredOn("answer Replayed"::equals)
                    .hasSize(2);
        }
    }

    private static List<String> server(String zone, String url, String what) throws InterruptedException {
        return ChildJvm.race(ZonedServer.class, Duration.ofMinutes(2), List.of(List.of(zone, url, what)))
                .get(0);
    }

    private static long[] times(String line) {
        return Arrays.stream(line.split(" ", -1))
                .skip(1)
                .mapToLong(Long::parseLong)
                .toArray();
    }

    private static long micros(Duration duration) {
        return duration.toMillis() * 1_000;
    }

    private static String url(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData metaData = connection.getMetaData();
            String user = metaData.getUserName().replaceAll("@.*", "");
            return metaData.getURL() + (metaData.getURL().contains("user=") ? "" : "&user=" + user);
        }
    }
}
