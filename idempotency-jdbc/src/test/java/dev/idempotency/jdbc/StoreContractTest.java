package dev.idempotency.jdbc;

import dev.idempotency.testkit.StoreContract;
import dev.idempotency.testkit.TransactionContract;
import java.util.EnumSet;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The whole store contract on each database in each mode, at READ COMMITTED. */
@ParameterizedClass
@MethodSource("setups")
final class StoreContractTest extends JdbcFixture implements StoreContract<Handle>, TransactionContract<Handle> {

    StoreContractTest(Setup setup) {
        super(setup);
    }

    static List<Setup> setups() {
        return Setup.eachAt(
                List.of(TransactionIsolationLevel.READ_COMMITTED),
                EnumSet.complementOf(EnumSet.of(Mode.SINGLE_STATEMENT)));
    }
}
