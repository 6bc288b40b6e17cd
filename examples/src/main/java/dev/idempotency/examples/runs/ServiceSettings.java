package dev.idempotency.examples.runs;

import java.time.Duration;
import java.util.List;

/**
 * What a service is opened with. It travels to other processes as their arguments.
 *
 * @param store which store
 * @param database which database
 * @param url where that is
 * @param run sets the keys and effects of this run apart from those of others in the same database
 * @param pool connections at most
 * @param lease how long a lease lasts, where there is one
 * @param window whether a window of recent keys is in front
 * @param confirmedBy how many replicas of a Redis have to confirm
 * @param effects where the effects of the store in Redis go
 */
record ServiceSettings(
        StoreKind store,
        DatabaseKind database,
        String url,
        String run,
        int pool,
        Duration lease,
        boolean window,
        int confirmedBy,
        String effects) {

    static final int ARGUMENTS = 9;

    ServiceSettings(
            StoreKind store, DatabaseKind database, String url, String run, int pool, Duration lease, boolean window) {
        this(store, database, url, run, pool, lease, window, 0, url);
    }

    /** With so many replicas that confirm, and effects in another Redis. */
    ServiceSettings with(int replicas, String otherRedis) {
        return new ServiceSettings(store, database, url, run, pool, lease, window, replicas, otherRedis);
    }

    List<String> arguments() {
        return List.of(
                store.name(),
                database.name(),
                url,
                run,
                "" + pool,
                "" + lease.toMillis(),
                Boolean.toString(window),
                "" + confirmedBy,
                effects);
    }

    static ServiceSettings of(String[] arguments) {
        return new ServiceSettings(
                StoreKind.valueOf(arguments[0]),
                DatabaseKind.valueOf(arguments[1]),
                arguments[2],
                arguments[3],
                Integer.parseInt(arguments[4]),
                Duration.ofMillis(Long.parseLong(arguments[5])),
                Boolean.parseBoolean(arguments[6]),
                Integer.parseInt(arguments[7]),
                arguments[8]);
    }

    Service open() {
        return store.open(this);
    }
}
