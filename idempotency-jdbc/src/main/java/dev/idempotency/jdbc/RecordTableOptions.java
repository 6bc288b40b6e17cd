package dev.idempotency.jdbc;

import java.time.Duration;
import java.util.Objects;

/** How {@link JdbcStores#transactional} works. Immutable: each method returns another one. */
public final class RecordTableOptions {

    private static final RecordTableOptions DEFAULTS = new RecordTableOptions(
            Duration.ofSeconds(30), Duration.ofDays(7), TableName.of("idempotency_record"), Schema.CREATE, false);

    private final Duration waitAtMost;
    private final Duration retention;
    private final TableName table;
    private final Schema schema;
    private final boolean actionFirst;

    private RecordTableOptions(
            Duration waitAtMost, Duration retention, TableName table, Schema schema, boolean actionFirst) {
        this.waitAtMost = waitAtMost;
        this.retention = retention;
        this.table = table;
        this.schema = schema;
        this.actionFirst = actionFirst;
    }

    /**
     * Duplicates wait for 30 seconds, records are kept for 7 days, in the table {@code idempotency_record} of the default
     * schema, which is created if it is not there.
     *
     * @return the defaults
     */
    public static RecordTableOptions defaults() {
        return DEFAULTS;
    }

    /**
     * For how long a duplicate waits, without a connection, for a call in this process that is in front of it; then it
     * is refused as in progress.
     *
     * @param duration zero, to refuse at once, to 100 years
     * @return other options
     */
    public RecordTableOptions waitAtMost(Duration duration) {
        return new RecordTableOptions(
                Durations.notNegative("waitAtMost", duration), retention, table, schema, actionFirst);
    }

    /**
     * For how long a record counts after it was written. A resend after that is executed again: choose longer than any
     * sender keeps trying.
     *
     * @param duration 1 millisecond to 100 years
     * @return other options
     */
    public RecordTableOptions retention(Duration duration) {
        return new RecordTableOptions(
                waitAtMost, Durations.positive("retention", duration), table, schema, actionFirst);
    }

    /**
     * Where the records are.
     *
     * @param name a table, with its schema before a dot if it isn't the default one; letters, digits and underscores
     * @return other options
     * @throws IllegalArgumentException if that is no such name
     */
    public RecordTableOptions table(String name) {
        return new RecordTableOptions(waitAtMost, retention, TableName.of(name), schema, actionFirst);
    }

    /**
     * What to do about the table when the store is made.
     *
     * @param schema create, validate, or nothing
     * @return other options
     */
    public RecordTableOptions schema(Schema schema) {
        return new RecordTableOptions(
                waitAtMost, retention, table, Objects.requireNonNull(schema, "schema"), actionFirst);
    }

    /**
     * Lets the action run before its keys are inserted, together with the response, instead of between the insert of the
     * keys and that of the response. A first call is one statement shorter; a repeat that the window does not know runs
     * the action in vain and undoes it. The action's result, and its exception, are believed only if there is no original.
     *
     * <p>It fits actions that do nothing but what a rollback undoes, and services whose window knows nearly all repeats. An
     * action that ends its transaction by itself, past the handle, is not found out.
     *
     * @return other options
     */
    public RecordTableOptions actionFirst() {
        return new RecordTableOptions(waitAtMost, retention, table, schema, true);
    }

    boolean isActionFirst() {
        return actionFirst;
    }

    Duration waitAtMost() {
        return waitAtMost;
    }

    Duration retention() {
        return retention;
    }

    TableName table() {
        return table;
    }

    Schema schema() {
        return schema;
    }
}
