package dev.idempotency.store;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Conflict;
import dev.idempotency.Outcome.Mismatch;
import dev.idempotency.Outcome.Refused;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Outcome.Source;
import dev.idempotency.Request;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What originals that a store has found mean for a request: conflict goes before mismatch, and mismatch before
 * anything else. For authors of stores.
 */
public final class Judgement {

    private Judgement() {}

    /**
     * Whether what is found forbids any answer.
     *
     * @param request the request
     * @param found for each key of the request that is taken, what it is taken by; of records in progress too
     * @param <R> the response
     * @return a conflict if the keys belong to different records, a mismatch if a fingerprint differs, null if neither
     */
    public static <R extends @Nullable Object> @Nullable Refused<R> refusal(
            Request request, Map<IdempotencyKey, ? extends Original<?>> found) {
        List<IdempotencyKey> taken =
                request.keys().stream().filter(found::containsKey).toList();
        if (taken.stream().map(key -> identity(found, key)).distinct().count() > 1) {
            return new Conflict<>(taken);
        }
        for (IdempotencyKey key : taken) {
            Original<?> original = found.get(key);
            if (original != null && Fingerprint.differ(request.fingerprint(), original.fingerprint())) {
                return new Mismatch<>(key);
            }
        }
        return null;
    }

    /**
     * The answer to a request whose original, or originals, are complete.
     *
     * @param request the request
     * @param found for each key of the request that is taken, its original; at least one
     * @param <R> the response
     * @return a refusal, or the replay of the one original
     * @throws IllegalArgumentException if no key of the request is in the map
     */
    public static <R extends @Nullable Object> Outcome<R> answer(
            Request request, Map<IdempotencyKey, Original<R>> found) {
        Refused<R> refusal = refusal(request, found);
        if (refusal != null) {
            return refusal;
        }
        for (IdempotencyKey key : request.keys()) {
            Original<R> original = found.get(key);
            if (original != null) {
                return new Replayed<>(original.response(), key, Source.STORE);
            }
        }
        throw new IllegalArgumentException("no original was found for " + request);
    }

    private static @Nullable Object identity(Map<IdempotencyKey, ? extends Original<?>> found, IdempotencyKey key) {
        Original<?> original = found.get(key);
        return original == null ? null : original.identity();
    }
}
