package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row of the library's table. Times are microseconds since 1970.
 *
 * @param record the identity of the record
 * @param fingerprint that of the request which has it
 * @param payload the response; null if it is in progress
 * @param owner who has it, or null if no lease ever was on it
 * @param token the fencing token; 0 if there is none
 * @param leaseUntil the end of the lease; 0 if it is missing
 * @param expiresAt the end of its retention
 * @param now the store's clock when the row was read
 */
@SuppressWarnings("ArrayRecordComponent") // Its payload is nobody else's.
record RecordRow(
        UUID record,
        @Nullable Fingerprint fingerprint,
        byte @Nullable [] payload,
        @Nullable UUID owner,
        long token,
        long leaseUntil,
        long expiresAt,
        long now) {

    boolean isLive() {
        return expiresAt > now;
    }

    boolean isOf(UUID someone) {
        return someone.equals(owner);
    }

    /** What the record is known by once this owner has taken it over: its first owner may come back, and is not it any more. */
    UUID identityFor(UUID someone) {
        return owner != null && record.equals(someone) ? owner : record;
    }

    boolean isInProgress() {
        return payload == null;
    }

    /** Where its deadline is missing or damaged, a lease lasts as long as the record. */
    boolean leaseLasts() {
        return leaseUntil <= 0 || leaseUntil > now;
    }

    Duration leaseRemaining() {
        return micros((leaseUntil <= 0 ? expiresAt : Math.min(leaseUntil, expiresAt)) - now);
    }

    Duration remaining() {
        return micros(expiresAt - now);
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
