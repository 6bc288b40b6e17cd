package dev.idempotency.testkit;

import dev.idempotency.Action;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Judgement;
import dev.idempotency.testkit.Memory.Row;
import dev.idempotency.testkit.Memory.Transaction;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An honest store over {@link Memory}: it locks the keys, looks, runs the action and commits effect and record at once.
 * Each step can be overridden, to show that the contract sees it when the step is wrong.
 */
class ReferenceStore implements IdempotencyStore<Transaction, @Nullable String> {

    static final Duration RETENTION = Duration.ofHours(1);

    final Memory memory;
    private final Duration patience;

    ReferenceStore(Memory memory, Duration patience) {
        this.memory = memory;
        this.patience = patience;
    }

    ReferenceStore(Memory memory) {
        this(memory, Duration.ofSeconds(2));
    }

    @Override
    public Duration retention() {
        return RETENTION;
    }

    @Override
    public <X extends Exception> Outcome<@Nullable String> execute(
            Request request,
            Action<? super Transaction, ? extends @Nullable String, X> action,
            Publication<? super @Nullable String> publication)
            throws X {
        Transaction transaction = begin();
        boolean done = false;
        try {
            IdempotencyKey taken = lock(transaction, stored(request.keysInByteOrder()));
            if (taken != null) {
                return busy(taken);
            }
            Map<IdempotencyKey, Row> found = find(request);
            Outcome<@Nullable String> outcome = found.isEmpty()
                    ? first(transaction, request, action, publication)
                    : repeat(transaction, request, found, publication);
            done = true;
            return outcome;
        } finally {
            end(transaction, request, done);
        }
    }

    private <X extends Exception> Outcome<@Nullable String> first(
            Transaction transaction,
            Request request,
            Action<? super Transaction, ? extends @Nullable String, X> action,
            Publication<? super @Nullable String> publication)
            throws X {
        beforeTheAction();
        String response = run(action, transaction);
        Row row = new Row(
                new Original<>(identity(), kept(response), request.fingerprint()), memory.now() + RETENTION.toNanos());
        transaction.write(stored(request.keys()), row);
        commitAndPublish(transaction, request.keys(), row, publication);
        return new Executed<>(response);
    }

    private Outcome<@Nullable String> repeat(
            Transaction transaction,
            Request request,
            Map<IdempotencyKey, Row> found,
            Publication<? super @Nullable String> publication) {
        Outcome<@Nullable String> answer = judge(request, found);
        if (answer instanceof Replayed<@Nullable String> replayed) {
            Row row = Objects.requireNonNull(found.get(replayed.matched()));
            transaction.write(stored(names(request, found)), row);
            commitAndPublish(transaction, publishedNames(request, found), row, publication);
        }
        return answer;
    }

    // The steps, as they should be.

    Transaction begin() {
        return memory.begin();
    }

    Collection<IdempotencyKey> stored(Collection<IdempotencyKey> keys) {
        return keys.stream().map(this::stored).toList();
    }

    IdempotencyKey stored(IdempotencyKey key) {
        return key;
    }

    @Nullable
    IdempotencyKey lock(Transaction transaction, Collection<IdempotencyKey> keys) {
        try {
            return transaction.lock(keys, patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RetryableException("interrupted while waiting", e);
        }
    }

    Outcome<@Nullable String> busy(IdempotencyKey taken) {
        return new InProgress<>(taken, Duration.ofMillis(1));
    }

    Map<IdempotencyKey, Row> find(Request request) {
        Map<IdempotencyKey, Row> found = new LinkedHashMap<>();
        for (IdempotencyKey key : request.keys()) {
            Row row = memory.read(List.of(stored(key))).get(stored(key));
            if (row != null && isLive(row)) {
                found.put(key, row);
            }
        }
        return found;
    }

    boolean isLive(Row row) {
        return row.expires() - memory.now() > 0;
    }

    void beforeTheAction() {}

    <X extends Exception> String run(
            Action<? super Transaction, ? extends @Nullable String, X> action, Transaction transaction) throws X {
        return action.run(transaction);
    }

    Object identity() {
        return new Object();
    }

    String kept(String response) {
        return response;
    }

    Outcome<@Nullable String> judge(Request request, Map<IdempotencyKey, Row> found) {
        Map<IdempotencyKey, Original<@Nullable String>> originals = new LinkedHashMap<>();
        found.forEach((key, row) -> originals.put(key, row.original()));
        return Judgement.answer(request, originals);
    }

    List<IdempotencyKey> names(Request request, Map<IdempotencyKey, Row> found) {
        return request.keys();
    }

    List<IdempotencyKey> publishedNames(Request request, Map<IdempotencyKey, Row> found) {
        return names(request, found);
    }

    void commitAndPublish(
            Transaction transaction,
            List<IdempotencyKey> names,
            Row row,
            Publication<? super @Nullable String> publication) {
        transaction.commit();
        publication.committed(names, row.original(), remaining(row));
    }

    Duration remaining(Row row) {
        return Duration.ofNanos(row.expires() - memory.now());
    }

    void end(Transaction transaction, Request request, boolean done) {
        transaction.end();
    }
}
