package dev.idempotency.jdbc;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Fills in the parameters of one statement, from left to right. Wherever the {@link Clock} stands in the text of the
 * statement, {@link #now()} is called at the same place here.
 */
final class Parameters {

    private final PreparedStatement statement;
    private final boolean bindsClock;
    private final long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    private int last;

    Parameters(PreparedStatement statement, Clock clock) {
        this.statement = statement;
        this.bindsClock = clock.isBound();
    }

    /** The time, where it is this JVM's; elsewhere the statement has no parameter for it. */
    Parameters now() throws SQLException {
        return bindsClock ? number(now) : this;
    }

    /** What {@link #now()} fills in. */
    long clock() {
        return now;
    }

    Parameters number(long value) throws SQLException {
        statement.setLong(++last, value);
        return this;
    }

    Parameters micros(Duration duration) throws SQLException {
        return number(duration.toSeconds() * 1_000_000L + duration.toNanosPart() / 1_000);
    }

    Parameters id(UUID id) throws SQLException {
        return bytes(bytes(id));
    }

    static byte[] bytes(UUID id) {
        return ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
    }

    Parameters fingerprint(@Nullable Fingerprint fingerprint) throws SQLException {
        return bytes(bytes(fingerprint));
    }

    static byte @Nullable [] bytes(@Nullable Fingerprint fingerprint) {
        return fingerprint == null ? null : fingerprint.toBytes();
    }

    Parameters key(IdempotencyKey key) throws SQLException {
        return bytes(key.toBytes());
    }

    Parameters keys(List<IdempotencyKey> keys) throws SQLException {
        for (IdempotencyKey key : keys) {
            key(key);
        }
        return this;
    }

    /** A column of many rows, on a database that takes arrays. */
    Parameters column(byte[] @Nullable [] values) throws SQLException {
        statement.setArray(++last, statement.getConnection().createArrayOf("bytea", values));
        return this;
    }

    Parameters bytes(byte @Nullable [] value) throws SQLException {
        statement.setBytes(++last, value);
        return this;
    }
}
