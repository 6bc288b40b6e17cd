package dev.idempotency.testkit;

import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Publication;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A publication that writes down what it is told. */
final class Told implements Publication<@Nullable String> {

    private final List<Entry> entries = new CopyOnWriteArrayList<>();

    record Entry(
            List<IdempotencyKey> names,
            Object identity,
            @Nullable String response,
            @Nullable Fingerprint fingerprint,
            @Nullable Duration remaining) {}

    @Override
    public void committed(
            Collection<IdempotencyKey> names,
            Original<? extends @Nullable String> original,
            @Nullable Duration remaining) {
        entries.add(new Entry(
                List.copyOf(names), original.identity(), original.response(), original.fingerprint(), remaining));
    }

    List<Entry> entries() {
        return entries;
    }

    Stream<IdempotencyKey> names() {
        return entries.stream().flatMap(entry -> entry.names().stream());
    }

    void forget() {
        entries.clear();
    }
}
