package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One name of a record in the library's table, without its response. Times are the database's, to the microsecond.
 *
 * @param key the name
 * @param record the identity of the record, the same for all its names
 * @param state what it was in when it was read
 * @param fingerprint that of the request that has it, or null
 * @param token the fencing token of the last lease; 0 if there never was one
 * @param createdAt when the record was first written
 * @param leaseUntil when the last lease ends or has ended; null if there never was one, or it is missing
 * @param expiresAt when its retention ends
 */
public record RecordInfo(
        IdempotencyKey key,
        UUID record,
        RecordState state,
        @Nullable Fingerprint fingerprint,
        long token,
        Instant createdAt,
        @Nullable Instant leaseUntil,
        Instant expiresAt) {

    /** Checks that what must be there is. */
    public RecordInfo {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(record, "record");
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(createdAt, "createdAt");
        Objects.requireNonNull(expiresAt, "expiresAt");
    }
}
