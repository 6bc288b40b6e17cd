package dev.idempotency.examples.runs;

import java.util.Locale;

/** Which store a run is about. */
enum StoreKind {
    /** The unique key on the service's own table. */
    OWN_TABLE {
        @Override
        Service open(ServiceSettings settings) {
            return new OwnTableService(settings);
        }
    },
    /** The library's table, in the same transaction as the effect. */
    TRANSACTIONAL {
        @Override
        Service open(ServiceSettings settings) {
            return new TransactionalService(settings);
        }
    },
    /** A lease in the library's table, and an effect outside its transactions. */
    LEASED {
        @Override
        Service open(ServiceSettings settings) {
            return new LeasedService(settings);
        }
    },
    /** A lease in Redis, and an effect beside it. */
    REDIS {
        @Override
        Service open(ServiceSettings settings) {
            return new RedisService(settings);
        }
    };

    /** Opens it; the first one creates what it needs. */
    abstract Service open(ServiceSettings settings);

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
