package dev.idempotency.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How {@link JdbcStores#yourTable} works. Immutable: each method returns another one. */
public final class YourTableOptions {

    private static final YourTableOptions DEFAULTS =
            new YourTableOptions(Duration.ofSeconds(30), null, List.of(), false);

    private final Duration waitAtMost;
    private final @Nullable Duration retention;
    private final List<UniqueKey> uniqueKeys;
    private final boolean singleStatement;

    private YourTableOptions(
            Duration waitAtMost, @Nullable Duration retention, List<UniqueKey> uniqueKeys, boolean singleStatement) {
        this.waitAtMost = waitAtMost;
        this.retention = retention;
        this.uniqueKeys = uniqueKeys;
        this.singleStatement = singleStatement;
    }

    /**
     * Duplicates wait for 30 seconds, rows stay for ever, and no unique key is checked at start.
     *
     * @return the defaults
     */
    public static YourTableOptions defaults() {
        return DEFAULTS;
    }

    /**
     * For how long a duplicate waits, without a connection, for a call in this process that is in front of it; then it
     * is refused as in progress.
     *
     * @param duration zero, to refuse at once, to 100 years
     * @return other options
     */
    public YourTableOptions waitAtMost(Duration duration) {
        return new YourTableOptions(
                Durations.notNegative("waitAtMost", duration), retention, uniqueKeys, singleStatement);
    }

    /**
     * For how long the service keeps rows, if it removes them by itself; so that a window that would outlast them is
     * refused. The store itself removes nothing.
     *
     * @param duration the shortest time for which a row stays; 1 millisecond to 100 years
     * @return other options
     */
    public YourTableOptions rowsStayFor(Duration duration) {
        return new YourTableOptions(
                waitAtMost, Durations.positive("rowsStayFor", duration), uniqueKeys, singleStatement);
    }

    /**
     * Checks, when the store is made, that a table has a unique key on exactly these columns, and that they compare byte
     * for byte: no case-insensitive type or collation, no blank-padded {@code CHAR}, and on MariaDB and MySQL no collation
     * that pads with blanks (take {@code VARBINARY}, {@code utf8mb4_nopad_bin} or {@code utf8mb4_0900_bin}) and no key on a
     * prefix. On a database that the library does not know, collations are not checked. Name each key that requests carry.
     *
     * @param table the table, with its schema before a dot if it isn't the default one
     * @param columns the columns of the unique key, in any order
     * @return other options
     */
    public YourTableOptions uniqueKey(String table, String... columns) {
        Objects.requireNonNull(table, "table");
        List<UniqueKey> more = new ArrayList<>(uniqueKeys);
        more.add(new UniqueKey(table, List.of(columns)));
        return new YourTableOptions(waitAtMost, retention, List.copyOf(more), singleStatement);
    }

    /**
     * Promises that each action is one statement, its insert, so that it can run in autocommit mode: one round trip, and
     * none to commit.
     *
     * <ul>
     *   <li>A second statement through the handle is refused. One that goes to the handle's connection directly can't be
     *       seen, and would be stored by itself; so would each row of a JDBC batch ({@code PreparedBatch}) on some databases.
     *   <li>An action that fails <em>after</em> its statement can't be undone: {@link
     *       dev.idempotency.OutcomeUnknownException} says so, and a retry replays.
     *   <li>Where connections come with autocommit off, and in joined calls and batches, a transaction is used as without
     *       this option.
     * </ul>
     *
     * @return other options
     */
    public YourTableOptions singleStatement() {
        return new YourTableOptions(waitAtMost, retention, uniqueKeys, true);
    }

    boolean isSingleStatement() {
        return singleStatement;
    }

    Duration waitAtMost() {
        return waitAtMost;
    }

    @Nullable
    Duration retention() {
        return retention;
    }

    List<UniqueKey> uniqueKeys() {
        return uniqueKeys;
    }
}
