package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A service that is killed again and again in the middle of its work, and a sender that resends. */
class CrashTest {

    private static final int KILLS = 30;
    private static final int KILLS_OF_SECOND_MODE = 10;
    private static final int MESSAGES = 3_000;

    private static final Pattern ACKNOWLEDGEMENT = Pattern.compile("(m\\d+) stored (m\\d+)\\.");

    private final Random random = new Random(20261201);

    @ParameterizedTest
    @EnumSource(JoinedTransactionTest.Mode.class)
    @DisplayName("W-8, S1: killed at 30 random moments: what was acknowledged is stored, once, and answered as before")
    void killedAtRandomMoments_nothingIsLostOrStoredTwice(JoinedTransactionTest.Mode mode, @TempDir Path folder)
            throws Exception {
        // Without this H2 acknowledges a commit up to half a second before it is in the file.
        String database = "file:" + folder.resolve("db") + ";WRITE_DELAY=0";
        List<String> outbox = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            outbox.add("m" + i);
        }
        Set<String> acknowledged = new HashSet<>();
        int resent = 0;

        int kills = mode == JoinedTransactionTest.Mode.YOUR_TABLE ? KILLS : KILLS_OF_SECOND_MODE;
        for (int kill = 0; kill < kills; kill++) {
            List<String> batch = batch(outbox, acknowledged);
            resent += (int) batch.stream().filter(acknowledged::contains).count();
            run(database, mode, batch, random.nextInt(batch.size() - 1), acknowledged, folder);
        }
        run(database, mode, outbox, Integer.MAX_VALUE, acknowledged, folder);

        assertThat(resent).isPositive();
        assertThat(acknowledged).hasSize(MESSAGES);
        Messages after = new Messages(database);
        List<String> stored = after.jdbi.withHandle(handle -> handle.createQuery("select message_id from message")
                .mapTo(String.class)
                .list());
        assertThat(stored).hasSize(MESSAGES).doesNotHaveDuplicates().containsAll(outbox);
    }

    /** What was not acknowledged yet, and some of what was: its acknowledgement may have been lost further on. */
    private List<String> batch(List<String> outbox, Set<String> acknowledged) {
        List<String> batch = new ArrayList<>();
        for (String id : outbox) {
            if (!acknowledged.contains(id) || random.nextInt(20) == 0) {
                batch.add(id);
            }
        }
        Collections.shuffle(batch, random);
        return batch.subList(0, Math.min(batch.size(), 200));
    }

    /** Sends all at once, so that the kill after some acknowledgements meets others half done. */
    private static void run(
            String database,
            JoinedTransactionTest.Mode mode,
            List<String> batch,
            int killAfter,
            Set<String> acknowledged,
            Path folder)
            throws IOException, InterruptedException {
        Path outbox = Files.write(folder.resolve("outbox"), batch);
        List<String> lines;
        try (ChildJvm service = ChildJvm.start(
                CrashingService.class, Duration.ofMinutes(5), database, mode.name(), outbox.toString())) {
            service.awaitReady();
            service.go();
            if (killAfter == Integer.MAX_VALUE) {
                lines = service.finish();
            } else {
                while (service.lines().size() <= killAfter) {
                    Thread.onSpinWait();
                    assertThat(service.isAlive()).isTrue();
                }
                lines = service.kill();
            }
        }
        for (String line : lines) {
            Matcher acknowledgement = ACKNOWLEDGEMENT.matcher(line);
            // The last line of one that was killed may be cut; then it acknowledges nothing.
            if (acknowledgement.matches()) {
                assertThat(acknowledgement.group(2)).isEqualTo(acknowledgement.group(1));
                acknowledged.add(acknowledgement.group(1));
            }
        }
    }
}
