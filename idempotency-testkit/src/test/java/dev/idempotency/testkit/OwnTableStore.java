package dev.idempotency.testkit;

import dev.idempotency.Action;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Judgement;
import dev.idempotency.testkit.Memory.Row;
import dev.idempotency.testkit.Memory.Transaction;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An honest store of the other kind: the action inserts, the violation of the unique key escapes it, and the original is
 * read then. It adds no names, its rows never expire, and duplicates wait in the database only.
 */
final class OwnTableStore implements IdempotencyStore<Transaction, @Nullable String> {

    private final Memory memory;

    OwnTableStore(Memory memory) {
        this.memory = memory;
    }

    static final class DuplicateRow extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /**
     * What the user's action does: inserts a row whose keys are unique. The check for nulls is off since it takes every
     * original's response for not null, whatever the type argument says.
     */
    @SuppressWarnings("NullAway")
    static void insert(Transaction transaction, Request request, @Nullable String response)
            throws DuplicateRow, InterruptedException {
        if (transaction.lock(request.keysInByteOrder(), Duration.ofMillis(500)) != null) {
            throw new RetryableException("lock time-out", null);
        }
        if (!transaction.memory().read(request.keys()).isEmpty()) {
            throw new DuplicateRow();
        }
        transaction.write(
                request.keys(), new Row(new Original<>(new Object(), response, request.fingerprint()), Long.MAX_VALUE));
        transaction.effect(request.keys());
    }

    @Override
    public <X extends Exception> Outcome<@Nullable String> execute(
            Request request,
            Action<? super Transaction, ? extends @Nullable String, X> action,
            Publication<? super @Nullable String> publication)
            throws X {
        Transaction transaction = memory.begin();
        try {
            String response = action.run(transaction);
            transaction.commit();
            publication.committed(request.keys(), new Original<>(new Object(), response, request.fingerprint()), null);
            return new Executed<>(response);
        } catch (Exception e) {
            transaction.end();
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
                throw new RetryableException("interrupted while waiting", e);
            }
            if (e instanceof DuplicateRow) {
                return original(request, publication);
            }
            throw e;
        } finally {
            transaction.end();
        }
    }

    private Outcome<@Nullable String> original(Request request, Publication<? super @Nullable String> publication) {
        Map<IdempotencyKey, Original<@Nullable String>> found = new LinkedHashMap<>();
        memory.read(request.keys()).forEach((key, row) -> found.put(key, row.original()));
        Outcome<@Nullable String> answer = Judgement.answer(request, found);
        if (answer instanceof Replayed<@Nullable String> replayed) {
            publication.committed(
                    List.copyOf(found.keySet()), Objects.requireNonNull(found.get(replayed.matched())), null);
        }
        return answer;
    }
}
