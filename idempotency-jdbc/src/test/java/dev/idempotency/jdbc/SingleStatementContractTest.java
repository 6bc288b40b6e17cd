package dev.idempotency.jdbc;

import dev.idempotency.testkit.ConcurrencyContract;
import dev.idempotency.testkit.KeyContract;
import dev.idempotency.testkit.TwoLayerContract;
import java.util.EnumSet;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Actions that are one statement in autocommit mode, on each database; what they can't keep is in its own test. */
@ParameterizedClass
@MethodSource("setups")
final class SingleStatementContractTest extends JdbcFixture
        implements ConcurrencyContract<Handle>, TwoLayerContract<Handle>, KeyContract<Handle> {

    SingleStatementContractTest(Setup setup) {
        super(setup);
    }

    static List<Setup> setups() {
        return Setup.eachAt(
                List.of(TransactionIsolationLevel.READ_COMMITTED, TransactionIsolationLevel.SERIALIZABLE),
                EnumSet.of(Mode.SINGLE_STATEMENT));
    }
}
