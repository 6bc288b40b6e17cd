package dev.idempotency.jdbc;

import dev.idempotency.store.Lease;
import dev.idempotency.testkit.ConcurrencyContract;
import dev.idempotency.testkit.ExpiryContract;
import dev.idempotency.testkit.LeaseContract;
import dev.idempotency.testkit.TwoLayerContract;
import java.util.List;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The themes of the store contract that isolation can change, on leases on each database, above READ COMMITTED. */
@ParameterizedClass
@MethodSource("setups")
final class LeasedIsolationContractTest extends LeasedFixture
        implements ConcurrencyContract<Lease>, TwoLayerContract<Lease>, ExpiryContract<Lease>, LeaseContract {

    LeasedIsolationContractTest(Setup setup) {
        super(setup);
    }

    static List<Setup> setups() {
        return Setup.eachAt(TransactionIsolationLevel.REPEATABLE_READ, TransactionIsolationLevel.SERIALIZABLE);
    }
}
