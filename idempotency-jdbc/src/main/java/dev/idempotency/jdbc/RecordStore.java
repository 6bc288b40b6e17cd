package dev.idempotency.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * A store that keeps its records in the library's own table.
 *
 * @param <R> the response
 */
public interface RecordStore<R extends @Nullable Object> extends JdbcStore<R> {

    /**
     * Removes expired records, in one small transaction. Expired records count as absent in any case; this gives their
     * room back. Call it again and again, until it returns less than the batch size.
     *
     * <p>Each record is checked again as it is removed, so that one that was taken over meanwhile stays. Records that
     * live calls have locked are passed over where the database can do that.
     *
     * @param batchSize the most rows to remove; 1 to 10,000
     * @return how many rows were removed
     * @throws IllegalArgumentException if the batch size is out of range
     * @throws dev.idempotency.RetryableException if a live call was in the way; nothing was removed
     */
    int purge(int batchSize);
}
