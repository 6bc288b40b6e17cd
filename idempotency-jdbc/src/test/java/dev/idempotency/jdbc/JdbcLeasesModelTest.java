package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testkit.LeaseModel;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases in a database against a plain model, with purges in between. */
@DisplayName("S2, S4, S8, S10, S11: random operations against a plain model")
@ParameterizedClass
@EnumSource
class JdbcLeasesModelTest {

    private static final int STEPS = 1_500;

    /** Where each statement is a trip to a server. */
    private static final int STEPS_ON_A_SERVER = 700;

    @AutoClose
    private final LeaseTable table;

    JdbcLeasesModelTest(TestDatabase database) {
        table = new LeaseTable(database);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void operations_random_answerAsTheModelDoes(long seed) {
        RecordAdmin admin = JdbcStores.admin(table.jdbi);
        int[] times = {0};
        LeaseModel model = new LeaseModel(List.of(table.leases, table.anotherServer()), by -> {
            table.pass(by);
            if (++times[0] % 5 == 0) {
                admin.purge(10_000);
            }
        });

        model.run(seed, table.database == TestDatabase.H2 ? STEPS : STEPS_ON_A_SERVER);

        admin.purge(10_000);
        assertThat(table.count()).isEqualTo(model.names());
    }
}
