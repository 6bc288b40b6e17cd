package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Request;
import dev.idempotency.store.LeaseBackend.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Leases in Redis against a plain model. Durations are whole minutes and time passes by moving records back, so that the moments a
 * script takes decide nothing.
 */
@DisplayName("S2, S4, S8, S10, S11: random operations against a plain model")
class RedisLeasesModelTest {

    private static final int STEPS = 1_500;

    private static final class Kept {
        UUID identity;
        boolean takenOver;
        final Set<IdempotencyKey> names = new HashSet<>();

        @Nullable
        Fingerprint fingerprint;

        UUID owner;
        long token;
        long leaseEnds;
        long ends;
        byte @Nullable [] payload;

        Kept(UUID identity) {
            this.identity = identity;
            this.owner = identity;
        }
    }

    private record Grant(Request request, UUID owner, long token) {}

    private final KeptRecords redis = new KeptRecords(RedisServers.SINGLE.client());
    private final List<RedisLeases> servers = List.of(redis.leases(), redis.leases());
    private final List<Kept> records = new ArrayList<>();
    private final List<Grant> grants = new ArrayList<>();
    private final Map<String, Integer> seen = new TreeMap<>();
    private long minute;
    private long lastToken;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void operations_random_answerAsTheModelDoes(long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            RedisLeases leases = servers.get(random.nextInt(2));
            switch (random.nextInt(9)) {
                case 0, 1, 2, 3 -> claim(leases, random, step);
                case 4 -> pass(random);
                default -> settle(leases, random, step);
            }
        }
        assertThat(seen.keySet())
                .containsExactlyInAnyOrder(
                        "new",
                        "again",
                        "taken over",
                        "done",
                        "name added",
                        "conflict",
                        "mismatch",
                        "in progress",
                        "completed",
                        "released",
                        "extended",
                        "lost");
        assertThat(seen.values()).allSatisfy(times -> assertThat(times).isGreaterThan(3));
    }

    private void claim(RedisLeases leases, Random random, int step) {
        Grant before = random.nextInt(5) == 0 ? pick(random) : null;
        Request request = before == null ? request(random) : before.request;
        UUID owner = before == null ? new UUID(random.nextLong(), random.nextLong()) : before.owner;
        int lease = 1 + random.nextInt(10);
        int retention = lease + random.nextInt(30);
        String at = "step " + step + ": " + request;

        Claim claim = leases.claim(request, owner, Duration.ofMinutes(lease), Duration.ofMinutes(retention));

        List<IdempotencyKey> known =
                request.keys().stream().filter(key -> find(key) != null).toList();
        Set<Kept> found = new HashSet<>();
        known.forEach(key -> found.add(find(key)));
        Kept kept = known.isEmpty() ? null : find(known.get(0));
        if (kept != null && kept.payload == null && kept.owner.equals(owner)) {
            assertThat(claim).as(at).isEqualTo(new Claim.Granted(kept.identity, kept.token, kept.takenOver));
            see("again");
        } else if (found.size() > 1) {
            assertThat(claim).as(at).isEqualTo(new Claim.Refused(new Conflict<>(known)));
            see("conflict");
        } else if (kept != null && Fingerprint.differ(kept.fingerprint, request.fingerprint())) {
            assertThat(claim).as(at).isEqualTo(new Claim.Refused(new Mismatch<>(known.get(0))));
            see("mismatch");
        } else if (kept != null && kept.payload == null && minute < kept.leaseEnds) {
            long left = kept.leaseEnds - minute;
            assertThat(claim)
                    .as(at)
                    .isInstanceOfSatisfying(
                            Claim.Refused.class,
                            refused -> assertThat(refused.reason())
                                    .isInstanceOfSatisfying(
                                            InProgress.class,
                                            inProgress -> assertThat(inProgress.retryAfter())
                                                    .isBetween(
                                                            Duration.ofMinutes(left - 1), Duration.ofMinutes(left))));
            see("in progress");
        } else if (kept != null && kept.payload != null) {
            byte[] payload = kept.payload;
            assertThat(claim).as(at).isInstanceOfSatisfying(Claim.Done.class, done -> {
                assertThat(done.original().identity()).isEqualTo(kept.identity);
                assertThat(done.original().response()).isEqualTo(payload);
                assertThat(done.original().fingerprint()).isEqualTo(kept.fingerprint);
                assertThat(done.matched()).isEqualTo(known.get(0));
                assertThat(done.names()).isEqualTo(request.keys());
            });
            see(kept.names.addAll(request.keys()) ? "name added" : "done");
        } else {
            if (kept != null) {
                kept.takenOver = true;
                kept.identity = kept.identity.equals(owner) ? kept.owner : kept.identity;
            }
            assertThat(claim).as(at).isInstanceOfSatisfying(Claim.Granted.class, granted -> {
                assertThat(granted.takenOver()).isEqualTo(kept != null);
                assertThat(granted.identity()).isEqualTo(kept == null ? owner : kept.identity);
                assertThat(granted.token()).isGreaterThan(lastToken);
                lastToken = granted.token();
            });
            Kept taken = kept == null ? new Kept(owner) : kept;
            if (kept == null) {
                records.add(taken);
            }
            see(kept == null ? "new" : "taken over");
            taken.names.addAll(request.keys());
            taken.owner = owner;
            taken.token = lastToken;
            taken.fingerprint = request.fingerprint();
            taken.leaseEnds = minute + lease;
            taken.ends = minute + retention;
            grants.add(new Grant(request, owner, lastToken));
        }
    }

    private void settle(RedisLeases leases, Random random, int step) {
        Grant grant = pick(random);
        if (grant == null) {
            return;
        }
        int minutes = 1 + random.nextInt(20);
        Duration time = Duration.ofMinutes(minutes);
        List<Kept> found = grant.request.keys().stream().map(this::find).toList();
        Kept kept = found.get(0);
        boolean mine = kept != null
                && found.stream().allMatch(each -> each == kept)
                && kept.owner.equals(grant.owner)
                && kept.token == grant.token;
        boolean held = mine && kept.payload == null;
        boolean answer;
        boolean expected;
        String event;
        switch (random.nextInt(4)) {
            case 0 -> {
                byte[] payload = {1, 1, (byte) random.nextInt()};
                answer = leases.complete(grant.request, grant.owner, grant.token, payload, time);
                event = "completed";
                expected = mine;
                if (held) {
                    kept.payload = payload;
                    kept.ends = minute + minutes;
                }
            }
            case 1 -> {
                answer = leases.release(grant.request, grant.owner, grant.token);
                event = "released";
                expected = held || found.stream().allMatch(each -> each == null);
                if (held && kept.takenOver) {
                    kept.leaseEnds = minute;
                } else if (held) {
                    records.remove(kept);
                }
            }
            default -> {
                answer = leases.extend(grant.request, grant.owner, grant.token, time);
                event = "extended";
                expected = held;
                if (held) {
                    kept.leaseEnds = Math.max(kept.leaseEnds, minute + minutes);
                    kept.ends = Math.max(kept.ends, kept.leaseEnds);
                }
            }
        }
        assertThat(answer).as("step %d: %s of %s", step, event, grant.request).isEqualTo(expected);
        see(answer ? event : "lost");
    }

    private void pass(Random random) {
        int minutes = random.nextInt(12);
        redis.pass(Duration.ofMinutes(minutes));
        minute += minutes;
        records.removeIf(kept -> minute >= kept.ends);
    }

    private @Nullable Kept find(IdempotencyKey key) {
        return records.stream()
                .filter(kept -> kept.names.contains(key))
                .findFirst()
                .orElse(null);
    }

    private @Nullable Grant pick(Random random) {
        // The latest ones, most of the time: they are the ones still held.
        int last = grants.size();
        return last == 0 ? null : grants.get(Math.max(0, last - 1 - random.nextInt(random.nextInt(4) == 0 ? 50 : 4)));
    }

    private static Request request(Random random) {
        List<String> ids = new ArrayList<>(List.of("a", "b", "c", "d", "e", "f"));
        Collections.shuffle(ids, random);
        Request request = Request.of(messageKey(ids.get(0)));
        for (String id : ids.subList(1, 1 + random.nextInt(random.nextInt(3) == 0 ? 4 : 2))) {
            request = request.and(messageKey(id));
        }
        int fingerprint = random.nextInt(6);
        return fingerprint < 2 ? request.fingerprint(Fingerprint.sha256("payload " + fingerprint)) : request;
    }

    private static IdempotencyKey messageKey(String id) {
        return IdempotencyKey.of("im", "sender", id);
    }

    private void see(String event) {
        seen.merge(event, 1, Integer::sum);
    }
}
