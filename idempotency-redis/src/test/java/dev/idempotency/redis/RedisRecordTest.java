package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.LeaseBackend.Claim;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/** What records in Redis look like, and what becomes of damaged ones. */
final class RedisRecordTest {

    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final IdempotencyKey KEY = IdempotencyKey.of("im", "sender", "1");
    private static final Request REQUEST = Request.of(KEY);
    private static final Request BOTH = REQUEST.and(IdempotencyKey.of("notice", "system", "2"));

    private final UnifiedJedis client = RedisServers.SINGLE.client();
    private final KeptRecords records = new KeptRecords(client);
    private final RedisLeases leases = records.leases();
    private final UUID owner = UUID.randomUUID();

    private Claim.Granted claim(Request request) {
        return (Claim.Granted) leases.claim(request, owner, LEASE, RETENTION);
    }

    @Test
    @DisplayName("L-1: a record whose lease deadline is damaged is in progress until its retention ends")
    void claim_damagedDeadline_isInProgressUntilTheRetentionEnds() {
        claim(REQUEST);
        records.change(KEY, record -> record.putLong(KeptRecords.LEASE, 0));
        Claim other = leases.claim(REQUEST, UUID.randomUUID(), LEASE, RETENTION);
        assertThat(((Claim.Refused) other).reason())
                .isInstanceOfSatisfying(
                        InProgress.class,
                        busy -> assertThat(busy.retryAfter()).isBetween(RETENTION.minusMinutes(5), RETENTION));
        records.change(KEY, record -> record.putLong(KeptRecords.ENDS, 1));
        assertThat(leases.claim(REQUEST, UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOfSatisfying(
                        Claim.Granted.class,
                        granted -> assertThat(granted.takenOver()).isFalse());
    }

    @Test
    @DisplayName("L-9, R-2: every key has an expiry from its first moment, as long as the retention says")
    void keys_inEachState_haveAnExpiry() {
        Claim.Granted granted = claim(BOTH);
        assertAllExpireIn(RETENTION);
        leases.extend(BOTH, owner, granted.token(), RETENTION.multipliedBy(2));
        assertAllExpireIn(RETENTION.multipliedBy(2));
        leases.complete(BOTH, owner, granted.token(), new byte[] {1, 0}, RETENTION);
        assertAllExpireIn(RETENTION);
        leases.claim(BOTH.and(IdempotencyKey.of("im", "sender", "3")), UUID.randomUUID(), LEASE, RETENTION);
        assertThat(records.all()).hasSize(3);
        assertAllExpireIn(RETENTION);
    }

    @Test
    @DisplayName("S10: what a release leaves has an expiry, and tokens go on from it even if the clock is behind")
    void claim_afterReleaseWithAClockBehind_getsALargerToken() {
        Claim.Granted granted = claim(REQUEST);
        leases.release(REQUEST, owner, granted.token());
        assertAllExpireIn(Duration.ofHours(1));
        byte[] name = records.spelled(KEY);
        byte[] left = client.get(name);
        assertThat(left).hasSize(10);
        long ahead = granted.token() + Duration.ofMinutes(30).toNanos() / 1_000;
        ByteBuffer.wrap(left).putLong(2, ahead);
        client.set(name, left, SetParams.setParams().keepTtl());
        assertThat(claim(REQUEST).token()).isEqualTo(ahead + 1);
    }

    @Test
    @DisplayName("a record in a format of a newer release, or damaged, is an error and never a reason to execute")
    void claim_unknownFormat_isUnreadable() {
        byte[] name = records.spelled(KEY);
        byte[] cut = new byte[100];
        cut[0] = 1;
        cut[1] = 1;
        cut[58] = 64;
        for (byte[] unknown : new byte[][] {{2, 0, 0}, {}, {1}, new byte[100], cut}) {
            client.set(name, unknown);
            assertThatThrownBy(() -> claim(REQUEST)).isInstanceOf(UnreadableRecordException.class);
            assertThat(client.get(name)).isEqualTo(unknown);
        }
    }

    @Test
    @DisplayName("R-9: keys that only separators or braces tell apart are different")
    void keys_withSeparatorsAndBraces_areDifferent() {
        RedisKeys plain = new RedisKeys("p:", null, true);
        assertThat(plain.of(IdempotencyKey.of("n", "a:b", "c")))
                .isNotEqualTo(plain.of(IdempotencyKey.of("n", "a", "b:c")));
        claim(Request.of(IdempotencyKey.of("n", "a:b", "c")));
        claim(Request.of(IdempotencyKey.of("n", "a", "b:c")));
        claim(Request.of(IdempotencyKey.of("n", "{a}", "c")));
        claim(Request.of(IdempotencyKey.of("n", "a", "{c}")));
        assertThat(records.all()).hasSize(4);
    }

    @Test
    @DisplayName(
            "R-5: several keys without a tag, or with different ones, are refused on a cluster before anything is touched")
    void severalKeys_onAClusterWithoutACommonTag_areRefused() {
        UnifiedJedis cluster = RedisServers.CLUSTER.client();
        RedisKeys untagged = new RedisKeys(records.prefix, null, true);
        RedisKeys different = new RedisKeys(records.prefix, IdempotencyKey::namespace, true);
        for (RedisKeys keys : new RedisKeys[] {untagged, different}) {
            RedisLeases onCluster = new RedisLeases(new RedisScripts(cluster), keys, Confirmation.NONE, List.of());
            assertThatThrownBy(() -> onCluster.claim(BOTH, owner, LEASE, RETENTION))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("hashTag");
            BOTH.keys().forEach(key -> assertThat(cluster.exists(keys.of(key))).isFalse());
            assertThat(onCluster.claim(REQUEST, owner, LEASE, RETENTION)).isInstanceOf(Claim.Granted.class);
        }
    }

    @Test
    @DisplayName("R-10: a key that is released is free at once, under all its names, and so after a takeover")
    void release_thenClaim_isGranted() {
        Claim.Granted first = claim(BOTH);
        assertThat(leases.release(BOTH, owner, first.token())).isTrue();
        assertThat(claim(REQUEST).takenOver()).isFalse();
        records.lapse(KEY);
        UUID second = UUID.randomUUID();
        Claim.Granted taken = (Claim.Granted) leases.claim(BOTH, second, LEASE, RETENTION);
        assertThat(leases.release(BOTH, second, taken.token())).isTrue();
        assertThat(leases.claim(REQUEST, UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOfSatisfying(
                        Claim.Granted.class,
                        granted -> assertThat(granted.takenOver()).isTrue());
    }

    @Test
    @DisplayName("S8: who has taken a record over by one of its names completes all of them")
    void complete_byOneName_completesAll() {
        claim(BOTH);
        records.lapse(KEY);
        UUID second = UUID.randomUUID();
        Claim.Granted taken = (Claim.Granted) leases.claim(REQUEST, second, LEASE, RETENTION);
        assertThat(leases.complete(REQUEST, second, taken.token(), new byte[] {1, 0}, RETENTION))
                .isTrue();
        assertThat(leases.claim(Request.of(BOTH.keys().get(1)), UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOf(Claim.Done.class);
    }

    @Test
    @DisplayName("S11: a record whose retention is over counts as absent, also to its holder")
    void complete_afterTheRetention_isRefused() {
        Claim.Granted granted = claim(REQUEST);
        records.change(KEY, record -> record.putLong(KeptRecords.ENDS, 1));
        assertThat(leases.complete(REQUEST, owner, granted.token(), new byte[] {1, 0}, RETENTION))
                .isFalse();
    }

    @Test
    @DisplayName("too few replicas on a cluster: a typed answer, and the key is given back")
    void claim_onAClusterWithoutReplicas_isNotReplicated() {
        UnifiedJedis cluster = RedisServers.CLUSTER.client();
        RedisKeys keys = records.keys();
        RedisLeases waiting = new RedisLeases(
                new RedisScripts(cluster), keys, new Confirmation(1, false, Duration.ofMillis(10)), List.of());
        assertThatThrownBy(() -> waiting.claim(BOTH, owner, LEASE, RETENTION))
                .isInstanceOf(NotReplicatedException.class);
        assertThat(new RedisLeases(new RedisScripts(cluster), keys, Confirmation.NONE, List.of())
                        .claim(BOTH, UUID.randomUUID(), LEASE, RETENTION))
                .isInstanceOf(Claim.Granted.class);
    }

    @Test
    @DisplayName("the bytes of a record with a UUID and a response of 16 bytes, beside those of a hash")
    void memory_ofARecord_isLessThanThatOfAHash() {
        byte[] name = ("idempotency:\u0001im\0sender\0" + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);
        Claim.Granted granted = claim(REQUEST);
        leases.complete(REQUEST, owner, granted.token(), new byte[18], RETENTION);
        byte[] record = client.get(records.spelled(KEY));
        client.set(name, record, SetParams.setParams().px(60_000));
        long string = client.memoryUsage(name);
        client.del(name);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("state", "1");
        fields.put("token", "1764600000000000");
        fields.put("lease", "1764600000000000");
        fields.put("ends", "1764600000000000");
        fields.put("identity", "x".repeat(16));
        fields.put("owner", "x".repeat(16));
        fields.put("payload", "x".repeat(18));
        client.hset(new String(name, StandardCharsets.UTF_8), fields);
        client.pexpire(name, 60_000);
        long hash = client.memoryUsage(name);
        client.del(name);
        System.out.printf("bytes per record: %d as one value of %d, %d as a hash%n", string, record.length, hash);
        assertThat(string).isLessThan(hash);
    }

    private void assertAllExpireIn(Duration time) {
        assertThat(records.all())
                .isNotEmpty()
                .allSatisfy(name -> assertThat(client.pttl(name))
                        .isBetween(time.minusMinutes(5).toMillis(), time.toMillis() + 1));
    }
}
