package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class DeadTransactionsTest {

    @Test
    void connectionsThatAreClosed_areLetGo() throws SQLException {
        DataSource h2 = TestDatabase.H2.fresh();

        for (int i = 0; i < 100; i++) {
            try (Connection connection = h2.getConnection()) {
                connection.setAutoCommit(false);
                DeadTransactions.add(connection, Dialect.H2, true);
                assertThat(DeadTransactions.contains(connection)).isTrue();
            }
        }
        System.gc();

        // The last one, and those of tests that run beside this one.
        assertThat(DeadTransactions.size()).isLessThan(50);
    }
}
