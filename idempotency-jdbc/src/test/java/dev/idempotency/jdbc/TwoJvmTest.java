package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.testkit.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TwoJvmTest {

    private static final int MESSAGES = 200;

    @ParameterizedTest
    @EnumSource(JoinedTransactionTest.Mode.class)
    @DisplayName("S1: two JVMs on one H2 database race for each message: one executes it, all others get its response")
    void twoServers_oneExecution(JoinedTransactionTest.Mode mode, @TempDir Path folder) throws InterruptedException {
        String database = "file:" + folder.resolve("db") + ";AUTO_SERVER=TRUE;LOCK_TIMEOUT=2000";
        // Whoever opens the file first serves it to the other, so this JVM stays with it until both are done.
        Messages messages = new Messages(database);
        if (mode == JoinedTransactionTest.Mode.TRANSACTIONAL) {
            JdbcStores.transactional(messages.jdbi, Codec.utf8());
        }
        List<String> lines = new ArrayList<>();
        messages.jdbi.useHandle(open -> {
            List<List<String>> arguments = new ArrayList<>();
            for (int server = 0; server < 2; server++) {
                arguments.add(List.of(database, mode.name(), String.valueOf(server), String.valueOf(MESSAGES)));
            }
            ChildJvm.race(RacingServer.class, Duration.ofMinutes(5), arguments).forEach(lines::addAll);
        });

        Map<String, Integer> executions = new HashMap<>();
        Map<String, String> responses = new HashMap<>();
        for (String line : lines) {
            String message = line.substring(line.indexOf(' ') + 1, line.indexOf(':'));
            String response = line.substring(line.indexOf(':') + 2);
            executions.merge(message, line.startsWith("executed") ? 1 : 0, Integer::sum);
            assertThat(responses.merge(message, response, (one, other) -> one)).isEqualTo(response);
        }
        assertThat(lines).hasSize(2 * 4 * MESSAGES);
        assertThat(executions)
                .hasSize(MESSAGES)
                .allSatisfy((message, count) -> assertThat(count).as(message).isEqualTo(1));
        assertThat(messages.rows()).isEqualTo(MESSAGES);
    }

    @Test
    @DisplayName("S1, S10: two JVMs race for leases that are released and taken over: one answer for each message, and"
            + " tokens that grow from one holder to the next")
    void twoServersWithLeases_oneAnswer(@TempDir Path folder) throws InterruptedException {
        String database = "file:" + folder.resolve("db") + ";AUTO_SERVER=TRUE;LOCK_TIMEOUT=2000";
        Messages messages = new Messages(database);
        JdbcStores.leased(messages.jdbi, Codec.utf8());
        messages.jdbi.useHandle(
                handle -> handle.execute("create table effect (message int, token bigint, taken_over int)"));
        List<String> lines = new ArrayList<>();
        messages.jdbi.useHandle(open -> {
            List<List<String>> arguments = new ArrayList<>();
            for (int server = 0; server < 2; server++) {
                arguments.add(List.of(database, String.valueOf(server), String.valueOf(MESSAGES)));
            }
            ChildJvm.race(LeasingServer.class, Duration.ofMinutes(5), arguments).forEach(lines::addAll);
        });

        Map<String, Integer> executions = new HashMap<>();
        Map<String, String> responses = new HashMap<>();
        for (String line : lines) {
            String message = line.substring(line.indexOf(' ') + 1, line.indexOf(':'));
            String response = line.substring(line.indexOf(':') + 2);
            executions.merge(message, line.startsWith("executed") ? 1 : 0, Integer::sum);
            assertThat(responses.merge(message, response, (one, other) -> one)).isEqualTo(response);
        }
        assertThat(lines).hasSize(2 * 4 * MESSAGES);
        assertThat(executions)
                .hasSize(MESSAGES)
                .allSatisfy((message, count) -> assertThat(count).as(message).isEqualTo(1));

        // In the order in which the effects happened: every holder but the last one has let its lease end.
        Map<String, List<Map<String, Object>>> effects = messages
                .jdbi
                .withHandle(handle -> handle.createQuery("select * from effect order by message, token")
                        .mapToMap()
                        .list())
                .stream()
                .collect(Collectors.groupingBy(effect -> "m" + effect.get("message")));
        assertThat(effects).hasSize(MESSAGES).allSatisfy((message, holders) -> {
            assertThat(holders).extracting(holder -> holder.get("token")).doesNotHaveDuplicates();
            assertThat("token " + holders.get(holders.size() - 1).get("token")).isEqualTo(responses.get(message));
            assertThat(holders.subList(1, holders.size()))
                    .allSatisfy(holder -> assertThat(holder.get("taken_over")).isEqualTo(1));
        });
        assertThat(effects.values()).as("messages that were taken over").anyMatch(holders -> holders.size() > 1);
    }
}
