package dev.idempotency.jdbc;

import dev.idempotency.store.Lease;
import dev.idempotency.testkit.LeaseContract;
import dev.idempotency.testkit.StoreContract;
import java.util.List;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The whole store contract on leases in the library's table, on each database at READ COMMITTED. */
@ParameterizedClass
@MethodSource("setups")
final class LeasedContractTest extends LeasedFixture implements StoreContract<Lease>, LeaseContract {

    LeasedContractTest(Setup setup) {
        super(setup);
    }

    static List<Setup> setups() {
        return Setup.eachAt(TransactionIsolationLevel.READ_COMMITTED);
    }
}
