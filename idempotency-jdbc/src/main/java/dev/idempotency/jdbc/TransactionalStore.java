package dev.idempotency.jdbc;

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
        return Purger.purge(database, statements, batchSize);
    }
}
