package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A service that is killed again and again in the middle of its work, and a sender that resends. */
class CrashTest {

    private static final int KILLS = 30;
    private static final int MESSAGES = 3_000;

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

        for (int kill = 0; kill < KILLS; kill++) {
            List<String> batch = batch(outbox, acknowledged);
            resent += (int) batch.stream().filter(acknowledged::contains).count();
            run(database, mode, batch, random.nextInt(batch.size()), acknowledged);
        }
        run(database, mode, outbox, Integer.MAX_VALUE, acknowledged);

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
            Set<String> acknowledged)
            throws IOException, InterruptedException {
        Process service = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrashingService.class.getName(),
                        database,
                        mode.name())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread sender = new Thread(() -> send(service, batch));
        sender.start();
        int acknowledgements = 0;
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(service.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String id = line.substring(0, line.indexOf(' '));
                assertThat(line).isEqualTo(id + " stored " + id);
                acknowledged.add(id);
                if (acknowledgements++ == killAfter) {
                    // By its handle, which leaves the acknowledgements that are under way to be read.
                    service.toHandle().destroyForcibly();
                }
            }
        } finally {
            service.destroyForcibly();
            sender.join();
        }
        int exit = service.waitFor();
        assertThat(exit).isEqualTo(killAfter == Integer.MAX_VALUE ? 0 : 137);
    }

    private static void send(Process service, List<String> batch) {
        try (Writer out = new OutputStreamWriter(service.getOutputStream(), StandardCharsets.UTF_8)) {
            for (String id : batch) {
                out.write(id + "\n");
                out.flush();
            }
        } catch (IOException e) {
            if (service.isAlive()) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
