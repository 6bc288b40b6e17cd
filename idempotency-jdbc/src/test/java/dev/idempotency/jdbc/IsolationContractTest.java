package dev.idempotency.jdbc;

import dev.idempotency.testkit.ConcurrencyContract;
import dev.idempotency.testkit.ExpiryContract;
import dev.idempotency.testkit.TransactionContract;
import dev.idempotency.testkit.TwoLayerContract;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The themes of the store contract that isolation can change, on each database in each mode, above READ COMMITTED. */
@ParameterizedClass
@MethodSource("setups")
final class IsolationContractTest extends JdbcFixture
        implements ConcurrencyContract<Handle>,
                TwoLayerContract<Handle>,
                ExpiryContract<Handle>,
                TransactionContract<Handle> {

    IsolationContractTest(Setup setup) {
        super(setup);
    }

    static List<Setup> setups() {
        return Setup.eachAt(List.of(TransactionIsolationLevel.REPEATABLE_READ, TransactionIsolationLevel.SERIALIZABLE));
    }
}
