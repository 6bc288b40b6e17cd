package dev.idempotency.examples.runs;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Request;
import dev.idempotency.store.Payload;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;

/** Records that were written long ago, made by one statement. One in five still counts; the others have expired. */
final class PurgeFill {

    static final String RESPONSE = "stored long ago";

    static final int LIVE_ONE_IN = 5;

    private final Jdbi jdbi;
    private final DatabaseKind database;
    private final int records;
    private final long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
    private final long expired = now - micros(Duration.ofHours(1));
    private final long live = now + micros(Duration.ofDays(7));

    PurgeFill(Jdbi jdbi, DatabaseKind database, int records) {
        this.jdbi = jdbi;
        this.database = database;
        this.records = records;
    }

    private static long micros(Duration duration) {
        return TimeUnit.NANOSECONDS.toMicros(duration.toNanos());
    }

    static boolean isLive(long number) {
        return number % LIVE_ONE_IN == 0;
    }

    /** The request that wrote a record; numbers begin at 1. Its ID is spread over the index, as random ones are. */
    static Request request(long number) {
        try {
            byte[] digest = MessageDigest.getInstance("MD5").digest(("" + number).getBytes(StandardCharsets.US_ASCII));
            return Request.of(IdempotencyKey.of("im", "ana", HexFormat.of().formatHex(digest)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each JDK has MD5", e);
        }
    }

    /** Writes all records, in the order of their keys, which is what makes it fast. */
    void fill() {
        String prefix = HexFormat.of().formatHex("im\0ana\0".getBytes(StandardCharsets.US_ASCII));
        String select = switch (database) {
            case POSTGRESQL, POSTGRESQL17 ->
                "select decode('" + prefix + "', 'hex') || convert_to(md5(n::text), 'UTF8'), decode(md5(n::text),"
                        + " 'hex'), cast(? as bytea), 0, case when n % 5 = 0 then ? else ? end from"
                        + " generate_series(1, " + records + ") as t(n) order by md5(n::text)";
            case MARIADB ->
                "select concat(unhex('" + prefix + "'), md5(seq)), unhex(md5(seq)), ?, 0, case when seq % 5 = 0 then"
                        + " ? else ? end from seq_1_to_" + records + " order by md5(seq)";
            case REDIS, REDIS_CLUSTER ->
                throw new IllegalArgumentException("records in Redis go by their expiry: nothing is purged");
            case H2 ->
                "select X'" + prefix + "' || cast(rawtohex(hash('MD5', cast(x as varchar))) as varbinary),"
                        + " hash('MD5', cast(x as varchar)), ?, 0, case when mod(x, 5) = 0 then ? else ? end from"
                        + " system_range(1, " + records + ")";
        };
        jdbi.useHandle(handle -> handle.execute(
                "insert into idempotency_record (idempotency_key, record_id, response, created_at, expires_at) "
                        + select,
                Payload.encode(Codec.utf8(), RESPONSE),
                live,
                expired));
        if (database == DatabaseKind.POSTGRESQL || database == DatabaseKind.POSTGRESQL17) {
            jdbi.useHandle(handle -> handle.execute("vacuum analyze idempotency_record"));
        }
    }

    int expired() {
        return records - records / LIVE_ONE_IN;
    }

    /** Records of those that count which are still there. */
    long liveLeft() {
        return count(live);
    }

    /** Records of those that have expired which are still there. */
    long expiredLeft() {
        return count(expired);
    }

    int live() {
        return records / LIVE_ONE_IN;
    }

    private long count(long expiresAt) {
        return jdbi.withHandle(
                handle -> handle.createQuery("select count(*) from idempotency_record where expires_at = ?")
                        .bind(0, expiresAt)
                        .mapTo(Long.class)
                        .one());
    }
}
