package dev.idempotency.jdbc;

import static dev.idempotency.jdbc.Messages.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.BatchException;
import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A window that is slow to put holds no connection: a pool of one serves other calls while a call publishes. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
class PublicationTest {

    enum Mode {
        OWN_TABLE,
        SINGLE_STATEMENT,
        LIBRARYS_TABLE;

        JdbcStore<String> store(Jdbi jdbi) {
            return switch (this) {
                case OWN_TABLE -> JdbcStores.yourTable(jdbi, Messages::find);
                case SINGLE_STATEMENT ->
                    JdbcStores.yourTable(
                            jdbi, Messages::find, YourTableOptions.defaults().singleStatement());
                case LIBRARYS_TABLE -> JdbcStores.transactional(jdbi, Codec.utf8());
            };
        }
    }

    private final Messages messages;
    private final HikariDataSource poolOfOne;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<IdempotencyKey> published = new ArrayList<>();

    PublicationTest(TestDatabase database) {
        messages = new Messages(database);
        HikariConfig config = new HikariConfig();
        config.setDataSource(messages.real);
        config.setMaximumPoolSize(1);
        // The least there is: who needs a second connection is told so soon.
        config.setConnectionTimeout(250);
        poolOfOne = new HikariDataSource(config);
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
        poolOfOne.close();
    }

    /** Puts nothing before another call, for another key, has been answered. */
    private Publication<String> waitingFor(JdbcStore<String> store) {
        return (names, original, remaining) -> {
            published.addAll(names);
            Request other = request("other" + published.size());
            try {
                assertThat(threads.submit(() -> store.execute(other, Messages.insert(other, "other"), (n, o, r) -> {}))
                                .get())
                        .isEqualTo(new Executed<>("other"));
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError("no other call could be made during a publication", e);
            }
        };
    }

    private static Map<Request, String> insertAll(Handle handle, List<Request> requests) {
        Map<Request, String> answers = new LinkedHashMap<>();
        requests.forEach(request -> answers.put(request, Messages.insert(handle, request, "ok")));
        return answers;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S14: first and repeat give the connection back before they publish")
    void slowWindow_holdsNoConnection(Mode mode) {
        JdbcStore<String> store = mode.store(Jdbi.create(poolOfOne));
        Request request = request("m1");

        assertThat(store.execute(request, Messages.insert(request, "ok"), waitingFor(store)))
                .isEqualTo(new Executed<>("ok"));
        assertThat(store.execute(request, Messages.insert(request, "no"), waitingFor(store)))
                .isInstanceOf(Replayed.class);

        assertThat(published)
                .containsExactly(request.keys().get(0), request.keys().get(0));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S14: so does a batch, for what it has stored and what it has found")
    void slowWindow_holdsNoConnectionOfABatch(Mode mode) {
        JdbcStore<String> store = mode.store(Jdbi.create(poolOfOne));
        store.executeAll(List.of(request("m1")), PublicationTest::insertAll, (n, o, r) -> {});

        List<Outcome<String>> outcomes = store.executeAll(
                List.of(request("m1"), request("m2"), request("m3")), PublicationTest::insertAll, waitingFor(store));

        assertThat(outcomes.get(0)).isInstanceOf(Replayed.class);
        assertThat(outcomes.subList(1, 3)).allMatch(new Executed<>("ok")::equals);
        assertThat(published)
                .containsExactlyInAnyOrder(
                        Messages.messageKey("m1"), Messages.messageKey("m2"), Messages.messageKey("m3"));
    }

    @Test
    @DisplayName("What a batch has committed is published also if the rest of it fails")
    void batchFailsAfterItsCommit_publishesWhatIsStored() {
        JdbcStore<String> blind = JdbcStores.yourTable(Jdbi.create(poolOfOne), (handle, key) -> Optional.empty());

        assertThatThrownBy(() -> blind.executeAll(
                        List.of(request("m1"), request("m2")),
                        (handle, requests) -> insertAll(
                                handle,
                                requests.stream().filter(request("m1")::equals).toList()),
                        waitingFor(blind)))
                .isInstanceOf(BatchException.class);

        assertThat(published).containsExactly(Messages.messageKey("m1"));
    }
}
