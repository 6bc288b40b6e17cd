package dev.idempotency.jdbc;

import dev.idempotency.RetryableException;
import java.sql.SQLException;
import java.time.Duration;

/** The library's table in a transaction of its own, with the purge that it needs. */
final class TransactionalStore<R> extends OwnTransactionStore<R> implements RecordStore<R> {

    private final RecordStatements statements;

    TransactionalStore(Database database, RecordStatements statements, RecordTable<R> records, Duration waitAtMost) {
        super(database, records, waitAtMost);
        this.statements = statements;
    }

    @Override
    public int purge(int batchSize) {
        if (batchSize < 1 || batchSize > 10_000) {
            throw new IllegalArgumentException("a batch is from 1 to 10,000 rows, not " + batchSize);
        }
        try (Session session = Session.open(database)) {
            return session.<Integer, SQLException>inTransaction(
                    handle -> statements.purge(handle.getConnection(), batchSize));
        } catch (SQLException e) {
            throw purgeFailed(StatementFailure.of(e));
        } catch (RuntimeException failure) {
            throw purgeFailed(failure);
        }
    }

    private RuntimeException purgeFailed(RuntimeException failure) {
        if (SqlFailures.saysRunAgain(failure, database.dialect())) {
            return new RetryableException("a live call was in the way of the purge, which removed nothing", failure);
        }
        RuntimeException translated = StatementFailure.translated(failure);
        return translated != null ? translated : failure;
    }
}
