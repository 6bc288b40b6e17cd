package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Request;
import dev.idempotency.store.LeaseBackend.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("S2, S4, S8, S10, S11: random operations against a plain model")
class CaffeineLeasesModelTest {

    private static final int STEPS = 20_000;
    private static final List<Fingerprint> FINGERPRINTS = List.of(Fingerprint.sha256("one"), Fingerprint.sha256("two"));

    private enum Event {
        GRANTED_NEW,
        GRANTED_AGAIN,
        TAKEN_OVER,
        DONE,
        NAME_ADDED,
        CONFLICT,
        MISMATCH,
        IN_PROGRESS,
        COMPLETED,
        RELEASED,
        EXTENDED,
        LOST
    }

    /** A grant as the store and as the model gave it. */
    private record Grant(Request request, UUID owner, long token, long modelToken) {}

    private final FakeTime time = new FakeTime();
    private final CaffeineLeases leases = new CaffeineLeases(Long.MAX_VALUE, time::now);
    private final ModelRecords model = new ModelRecords();
    private final Map<Event, Integer> seen = new EnumMap<>(Event.class);
    private final List<Grant> grants = new ArrayList<>();
    private long lastToken;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void operations_random_answerAsTheModelDoes(long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2, 3 -> claim(random, step);
                case 4 -> advance(random);
                default -> settle(random, step);
            }
        }
        assertThat(seen).containsOnlyKeys(Event.values());
        assertThat(seen.values()).allSatisfy(times -> assertThat(times).isGreaterThan(20));
    }

    @Test
    void token_neverGivenTwice_evenInOneMicrosecond() {
        for (int i = 0; i < 1_000; i++) {
            Claim claim =
                    leases.claim(Bench.request("k"), UUID.randomUUID(), Duration.ofMillis(1), Duration.ofMillis(1));
            assertThat(claim).isInstanceOfSatisfying(Claim.Granted.class, granted -> {
                assertThat(granted.token()).isGreaterThan(lastToken);
                lastToken = granted.token();
                leases.release(Bench.request("k"), (UUID) granted.identity(), granted.token());
            });
        }
    }

    private void claim(Random random, int step) {
        Grant before = random.nextInt(5) == 0 ? pick(random) : null;
        Request request = before == null ? request(random) : before.request;
        UUID owner = before == null ? new UUID(random.nextLong(), random.nextLong()) : before.owner;
        Duration lease = Duration.ofMillis(1 + random.nextInt(10));
        Duration retention = lease.plusMillis(random.nextInt(30));

        Claim claim = leases.claim(request, owner, lease, retention);
        ModelRecords.Verdict expected = model.claim(request, owner, lease, retention);
        String at = "step " + step + ": " + request;
        if (claim instanceof Claim.Refused refused) {
            assertThat(refused.reason()).as(at).isEqualTo(expected.refusal());
            see(
                    refused.reason() instanceof Conflict
                            ? Event.CONFLICT
                            : refused.reason() instanceof Mismatch ? Event.MISMATCH : Event.IN_PROGRESS);
            return;
        }
        assertThat(expected.refusal()).as(at).isNull();
        ModelRecords.Kept kept = expected.kept();
        assertThat(kept).as(at).isNotNull();
        if (claim instanceof Claim.Done done && kept != null) {
            assertThat(done.original().identity()).as(at).isEqualTo(kept.identity);
            assertThat(done.original().response()).as(at).isEqualTo(kept.payload);
            assertThat(done.original().fingerprint()).as(at).isEqualTo(kept.fingerprint);
            assertThat(done.matched()).as(at).isEqualTo(expected.matched());
            assertThat(done.names()).as(at).isEqualTo(request.keys());
            assertThat(done.remaining()).as(at).isEqualTo(Duration.ofNanos(kept.retentionEnds - model.now));
            see(kept.names.size() > request.keys().size() ? Event.NAME_ADDED : Event.DONE);
        } else if (claim instanceof Claim.Granted granted && kept != null) {
            assertThat(kept.payload).as(at).isNull();
            assertThat(granted.identity()).as(at).isEqualTo(kept.identity);
            assertThat(granted.takenOver()).as(at).isEqualTo(kept.takenOver);
            Grant again = grants.stream()
                    .filter(grant -> grant.modelToken == kept.token)
                    .findFirst()
                    .orElse(null);
            if (again == null) {
                assertThat(granted.token()).as(at).isGreaterThan(lastToken);
                lastToken = granted.token();
                grants.add(new Grant(request, owner, granted.token(), kept.token));
                see(granted.takenOver() ? Event.TAKEN_OVER : Event.GRANTED_NEW);
            } else {
                assertThat(granted.token()).as(at).isEqualTo(again.token);
                see(Event.GRANTED_AGAIN);
            }
        }
    }

    private void settle(Random random, int step) {
        Grant grant = pick(random);
        if (grant == null) {
            return;
        }
        Duration duration = Duration.ofMillis(1 + random.nextInt(20));
        boolean answer;
        boolean expected;
        Event event;
        switch (random.nextInt(4)) {
            case 0 -> {
                byte[] payload = {1, 1, (byte) random.nextInt()};
                answer = leases.complete(grant.request, grant.owner, grant.token, payload, duration);
                expected = model.complete(grant.request, grant.owner, grant.modelToken, payload, duration);
                event = Event.COMPLETED;
            }
            case 1 -> {
                answer = leases.release(grant.request, grant.owner, grant.token);
                expected = model.release(grant.request, grant.owner, grant.modelToken);
                event = Event.RELEASED;
            }
            default -> {
                answer = leases.extend(grant.request, grant.owner, grant.token, duration);
                expected = model.extend(grant.request, grant.owner, grant.modelToken, duration);
                event = Event.EXTENDED;
            }
        }
        assertThat(answer).as("step %d: %s of %s", step, event, grant.request).isEqualTo(expected);
        see(answer ? event : Event.LOST);
    }

    /** Mostly by whole milliseconds, so that deadlines are met exactly. */
    private void advance(Random random) {
        Duration duration = random.nextInt(4) == 0
                ? Duration.ofNanos(random.nextInt(20_000_000))
                : Duration.ofMillis(random.nextInt(12));
        time.advance(duration);
        model.now += duration.toNanos();
        if (random.nextInt(10) == 0) {
            leases.purge();
        }
    }

    private @Nullable Grant pick(Random random) {
        // The latest ones, most of the time: they are the ones still held.
        int last = grants.size();
        return last == 0 ? null : grants.get(Math.max(0, last - 1 - random.nextInt(random.nextInt(4) == 0 ? 50 : 4)));
    }

    private static Request request(Random random) {
        List<String> ids = new ArrayList<>(List.of("a", "b", "c", "d", "e", "f"));
        Collections.shuffle(ids, random);
        int keys = 1 + random.nextInt(random.nextInt(3) == 0 ? 4 : 2);
        Request request = Bench.request(ids.subList(0, keys).toArray(String[]::new));
        int fingerprint = random.nextInt(6);
        return fingerprint < 2 ? request.fingerprint(FINGERPRINTS.get(fingerprint)) : request;
    }

    private void see(Event event) {
        seen.merge(event, 1, Integer::sum);
    }
}
