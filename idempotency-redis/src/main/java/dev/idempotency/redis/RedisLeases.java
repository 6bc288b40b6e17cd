package dev.idempotency.redis;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Request;
import dev.idempotency.StoreException;
import dev.idempotency.UnreadableRecordException;
import dev.idempotency.store.LeaseBackend;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Leases in Redis, one string value for each name of a record.
 *
 * <ol>
 *   <li>Each primitive is one script, which Redis runs alone and whose writes reach a replica together. It reads the
 *       server's clock, and sets each key with its expiry in one command. Nothing needs to be purged.
 *   <li>A record in progress knows all its names, so that a takeover through one of them takes all. A complete record
 *       never changes, and knows none.
 *   <li>All names of a record are on one server: always so without a cluster; on one, requests with several keys need a
 *       hash tag, and names are only added by requests.
 *   <li>A token is at least the server's clock and the last token of any of the keys + 1. A released record leaves its token
 *       behind for an hour, so that tokens grow even if another server takes over whose clock is behind by less.
 *       After the expiry of a record there is the clock alone.
 * </ol>
 *
 * <p>What Redis answers is written at least in its memory; {@code docs/guarantees.md} says what can be lost after that.
 */
final class RedisLeases implements LeaseBackend {

    /** What Redis holds in one string, less what a record has besides the payload, generously. */
    private static final int LARGEST_PAYLOAD = 512 * 1024 * 1024 - 64 * 1024;

    static final Script CLAIM = Script.of("format.lua", "claim-one.lua", "record.lua", "claim.lua");
    private static final Script COMPLETE = Script.of("format.lua", "complete-one.lua", "record.lua", "complete.lua");
    private static final Script RELEASE = Script.of("format.lua", "record.lua", "release.lua");
    private static final Script EXTEND = Script.of("format.lua", "record.lua", "extend.lua");

    private final RedisScripts scripts;
    private final RedisKeys keys;
    private final Confirmation confirmation;
    private final List<String> warnings;

    RedisLeases(RedisScripts scripts, RedisKeys keys, Confirmation confirmation, List<String> warnings) {
        this.warnings = warnings;
        this.scripts = scripts;
        this.keys = keys;
        this.confirmation = confirmation;
    }

    @Override
    public List<String> warnings() {
        return warnings;
    }

    /** In one pipeline; where somebody is to confirm, one by one. */
    @Override
    public List<@Nullable Claim> claimAll(List<Asked> asked, Duration lease, Duration retention) {
        if (confirmation.isAsked()) {
            return LeaseBackend.super.claimAll(asked, lease, retention);
        }
        List<RedisScripts.Call> calls = asked.stream()
                .map(each -> new RedisScripts.Call(
                        keys.of(each.request().keys()), claiming(each.request(), each.owner(), lease, retention)))
                .toList();
        List<@Nullable Claim> claims = new ArrayList<>();
        List<@Nullable Object> answers = scripts.runAll(CLAIM, calls);
        for (int i = 0; i < answers.size(); i++) {
            claims.add(
                    answers.get(i) instanceof List<?> answer
                            ? claim(asked.get(i).request(), asked.get(i).owner(), answer)
                            : null);
        }
        return claims;
    }

    private static List<byte[]> claiming(Request request, UUID owner, Duration lease, Duration retention) {
        Fingerprint fingerprint = request.fingerprint();
        return List.of(
                bytes(owner),
                micros(lease),
                micros(retention),
                fingerprint == null ? new byte[0] : fingerprint.toBytes());
    }

    @Override
    public Claim claim(Request request, UUID owner, Duration lease, Duration retention) {
        List<byte[]> arguments = claiming(request, owner, lease, retention);
        List<byte[]> spelled = keys.of(request.keys());
        if (!confirmation.isAsked()) {
            return claim(request, owner, (List<?>) scripts.run(CLAIM, spelled, arguments));
        }
        RedisScripts.Confirmed confirmed = scripts.runAndWait(CLAIM, spelled, arguments, confirmation);
        Claim claim = claim(request, owner, (List<?>) confirmed.answer());
        NotReplicatedException tooFew = confirmed.tooFew();
        if (claim instanceof Claim.Granted granted && tooFew != null) {
            try {
                release(request, owner, granted.token());
            } catch (RuntimeException e) {
                tooFew.addSuppressed(e);
            }
            throw tooFew;
        }
        return claim;
    }

    private static Claim claim(Request request, UUID owner, List<?> answer) {
        return switch ((int) number(answer, 0)) {
            case 0 ->
                answer.size() == 2
                        ? new Claim.Granted(owner, number(answer, 1), false)
                        : new Claim.Granted(uuid(ByteBuffer.wrap(bytes(answer, 2))), number(answer, 1), true);
            case 1 ->
                new Claim.Done(
                        key(request, answer, 1),
                        original(bytes(answer, 3)),
                        request.keys(),
                        Duration.of(number(answer, 2), ChronoUnit.MICROS));
            case 2 ->
                new Claim.Refused(
                        new InProgress<>(key(request, answer, 1), Duration.of(number(answer, 2), ChronoUnit.MICROS)));
            case 3 -> new Claim.Refused(new Mismatch<>(key(request, answer, 1)));
            case 4 -> {
                List<IdempotencyKey> taken = new ArrayList<>();
                for (int i = 1; i < answer.size(); i++) {
                    taken.add(key(request, answer, i));
                }
                yield new Claim.Refused(new Conflict<>(taken));
            }
            default ->
                throw new UnreadableRecordException(
                        "the record of " + key(request, answer, 1) + " is damaged, or in format " + number(answer, 2)
                                + ", which this release does not know",
                        null);
        };
    }

    @Override
    public boolean complete(Request request, UUID owner, long token, byte[] payload, Duration retention) {
        if (payload.length > LARGEST_PAYLOAD) {
            throw new StoreException(
                    "the response takes " + payload.length + " bytes, and Redis holds " + LARGEST_PAYLOAD, null);
        }
        List<byte[]> arguments = List.of(holder(owner, token), payload, micros(retention));
        List<byte[]> spelled = keys.of(request.keys());
        if (!confirmation.isAsked()) {
            return yes(scripts.run(COMPLETE, spelled, arguments));
        }
        RedisScripts.Confirmed confirmed = scripts.runAndWait(COMPLETE, spelled, arguments, confirmation);
        NotReplicatedException tooFew = confirmed.tooFew();
        if (yes(confirmed.answer()) && tooFew != null) {
            throw tooFew;
        }
        return yes(confirmed.answer());
    }

    @Override
    public boolean release(Request request, UUID owner, long token) {
        return yes(scripts.run(RELEASE, keys.of(request.keys()), List.of(holder(owner, token))));
    }

    @Override
    public boolean extend(Request request, UUID owner, long token, Duration by) {
        return yes(scripts.run(EXTEND, keys.of(request.keys()), List.of(holder(owner, token), micros(by))));
    }

    private static boolean yes(Object answer) {
        return answer.equals(1L);
    }

    private static long number(List<?> answer, int at) {
        return (Long) answer.get(at);
    }

    private static byte[] bytes(List<?> answer, int at) {
        return (byte[]) answer.get(at);
    }

    private static UUID uuid(ByteBuffer bytes) {
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    /** The end of a complete record: its identity, its fingerprint and its payload. */
    private static Original<byte[]> original(byte[] bytes) {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        UUID identity = uuid(rest);
        byte[] fingerprint = new byte[rest.get() & 0xFF];
        rest.get(fingerprint);
        byte[] payload = new byte[rest.remaining()];
        rest.get(payload);
        return new Original<>(identity, payload, fingerprint(fingerprint));
    }

    private static IdempotencyKey key(Request request, List<?> answer, int at) {
        return request.keys().get((int) number(answer, at) - 1);
    }

    private static @Nullable Fingerprint fingerprint(byte[] bytes) {
        return bytes.length == 0 ? null : Fingerprint.of(bytes);
    }

    private static byte[] bytes(UUID uuid) {
        return ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    /** As in a record, so that a script can compare it at once. */
    private static byte[] holder(UUID owner, long token) {
        return ByteBuffer.allocate(24).putLong(token).put(bytes(owner)).array();
    }

    private static byte[] micros(Duration duration) {
        return Long.toString(duration.toNanos() / 1_000).getBytes(StandardCharsets.US_ASCII);
    }
}
