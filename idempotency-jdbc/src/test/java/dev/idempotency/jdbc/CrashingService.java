package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.insert;
import static dev.idempotency.jdbc.Messages.request;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.testkit.ChildJvm;
import dev.idempotency.window.CaffeineWindow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * A service in a process of its own, to be killed: stores the messages that the lines of a file name, with several
 * threads, and acknowledges each on its output.
 */
final class CrashingService {

    private CrashingService() {}

    public static void main(String[] args) throws IOException {
        Messages messages = new Messages(args[0]);
        HikariConfig config = new HikariConfig();
        config.setDataSource(messages.dataSource);
        // One writer: after kills while several connections wrote, H2 was seen to lock a key for good; see the
        // guarantees.
        config.setMaximumPoolSize(1);
        Jdbi jdbi = Jdbi.create(new HikariDataSource(config));
        JdbcStore<String> store = args[1].equals("YOUR_TABLE")
                ? JdbcStores.yourTable(jdbi, Messages::find)
                : JdbcStores.transactional(jdbi, Codec.utf8());
        Idempotency<Handle, String> sends = Idempotency.with(store)
                .window(CaffeineWindow.lasting(Duration.ofSeconds(32)))
                .build();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        ChildJvm.awaitGo();
        for (String message : Files.readAllLines(Path.of(args[2]))) {
            threads.execute(() -> {
                Request request = request(message);
                Outcome<String> outcome = sends.execute(request, insert(request, "stored " + message));
                acknowledge(message + ' ' + outcome.response() + '.');
            });
        }
        threads.shutdown();
    }

    private static synchronized void acknowledge(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
