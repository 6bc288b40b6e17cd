package dev.idempotency.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.UndeclaredThrowableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.function.Predicate;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class FaultyDataSourceTest {

    private static final Predicate<String> COMMIT = "commit"::equals;

    private final JdbcDataSource real = new JdbcDataSource();
    private final FaultyDataSource dataSource = new FaultyDataSource(real);

    @BeforeEach
    void table() throws SQLException {
        real.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = real.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "create table effect (id int generated always as identity primary key, number int unique)");
        }
    }

    private void insertInTransaction(int number) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement insert = connection.prepareStatement(
                    "insert into effect (number) values (?)", Statement.RETURN_GENERATED_KEYS)) {
                insert.setInt(1, number);
                insert.executeUpdate();
                try (ResultSet keys = insert.getGeneratedKeys()) {
                    assertThat(keys.next()).isTrue();
                }
            }
            connection.commit();
        }
    }

    private int rows() throws SQLException {
        try (Connection connection = real.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from effect")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    @DisplayName("No fault: what is asked is written down in order, and connections are counted")
    void noFault_isWrittenDown() throws SQLException {
        try (Connection other = dataSource.getConnection();
                Statement statement = other.createStatement()) {
            statement.execute("select 1");
            other.rollback();
            insertInTransaction(1);
            assertThat(dataSource.openConnections()).isEqualTo(1);
        }
        assertThat(dataSource.calls())
                .containsExactly("select 1", "rollback", "insert into effect (number) values (?)", "commit");
        assertThat(dataSource.mostConnections()).isEqualTo(2);
        assertThat(dataSource.openConnections()).isZero();
        dataSource.forget();
        assertThat(dataSource.calls()).isEmpty();
        assertThat(dataSource.mostConnections()).isZero();
    }

    @Test
    @DisplayName("Before the commit: it fails once, and nothing is stored")
    void beforeCommit_isNotDone() throws SQLException {
        SQLException failure = new SQLException("no", "40001");
        dataSource.fault(Fault.before(COMMIT, failure));
        assertThatThrownBy(() -> insertInTransaction(1)).isSameAs(failure);
        assertThat(rows()).isZero();
        insertInTransaction(1);
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("After the commit: it is stored, and its acknowledgement lost")
    void afterCommit_isDone() throws SQLException {
        dataSource.fault(Fault.after(COMMIT, new SQLException("gone", "08006")));
        assertThatThrownBy(() -> insertInTransaction(1)).hasMessage("gone");
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("During the commit: nobody is told; it is stored once or not at all")
    void duringCommit_isDoneOrNot() throws SQLException {
        dataSource.fault(Fault.during(COMMIT));
        assertThatThrownBy(() -> insertInTransaction(1))
                .isInstanceOf(SQLException.class)
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("08006"));
        assertThat(rows()).isBetween(0, 1);
        insertInTransaction(2);
        assertThat(rows()).isBetween(1, 2);
    }

    @Test
    @DisplayName("J-17: failures come wrapped, with the driver's own inside")
    void wrapping_keepsTheCause() throws SQLException {
        insertInTransaction(1);
        dataSource.fault(Fault.wrapping());
        assertThatThrownBy(() -> insertInTransaction(1))
                .isInstanceOf(UndeclaredThrowableException.class)
                .hasCauseInstanceOf(SQLException.class);
    }
}
