package dev.idempotency.jdbc;

import dev.idempotency.Codec;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.StoreException;
import dev.idempotency.Window;
import dev.idempotency.store.GatedLeases;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;

/**
 * Stores in a database.
 *
 * <ul>
 *   <li>{@link #yourTable}: the unique key is on your own table. No second table, no second index, no statement more than
 *       your own insert. It needs no more of a database than SQLState class 23 for a violated key; tested on H2, PostgreSQL
 *       and MariaDB.
 *   <li>{@link #transactional}: the library's table, written in the same transaction as yours. H2, PostgreSQL, MariaDB,
 *       and MySQL, which is tested on MariaDB.
 *   <li>{@link #leased}: the library's table, for actions whose effect lies outside the database. On the same ones.
 * </ul>
 *
 * <p>Each is made from a {@link Jdbi} or a plain {@link DataSource}, whatever its pool's defaults for autocommit and
 * isolation are. The connections must be the store's own: not bound to a transaction that is open on the thread. Make a store
 * outside any transaction: it takes one connection for a short while, to see which database it is and to prepare the table.
 */
public final class JdbcStores {

    private JdbcStores() {}

    /**
     * The unique key on your own table, with the defaults.
     *
     * @param jdbi where connections come from
     * @param findOriginal reads the original after the unique key has refused an insert
     * @param <R> the response
     * @return the store
     * @throws StoreException if the database can't be reached
     */
    public static <R extends @Nullable Object> JdbcStore<R> yourTable(Jdbi jdbi, FindOriginal<R> findOriginal) {
        return yourTable(jdbi, findOriginal, YourTableOptions.defaults());
    }

    /**
     * The unique key on your own table.
     *
     * @param jdbi where connections come from
     * @param findOriginal reads the original after the unique key has refused an insert
     * @param options how it works
     * @param <R> the response
     * @return the store
     * @throws StoreException if the database can't be reached, or a unique key that the options name is not there
     */
    public static <R extends @Nullable Object> JdbcStore<R> yourTable(
            Jdbi jdbi, FindOriginal<R> findOriginal, YourTableOptions options) {
        Objects.requireNonNull(findOriginal, "findOriginal");
        Objects.requireNonNull(options, "options");
        Database database = Database.of(Objects.requireNonNull(jdbi, "jdbi"));
        check(database, options);
        return new OwnTransactionStore<>(
                database,
                new YourTable<>(findOriginal, options.retention(), options.isSingleStatement()),
                options.waitAtMost());
    }

    /**
     * As {@link #yourTable(Jdbi, FindOriginal)}, from a plain data source.
     *
     * @param dataSource where connections come from
     * @param findOriginal reads the original after the unique key has refused an insert
     * @param <R> the response
     * @return the store
     */
    public static <R extends @Nullable Object> JdbcStore<R> yourTable(
            DataSource dataSource, FindOriginal<R> findOriginal) {
        return yourTable(dataSource, findOriginal, YourTableOptions.defaults());
    }

    /**
     * As {@link #yourTable(Jdbi, FindOriginal, YourTableOptions)}, from a plain data source.
     *
     * @param dataSource where connections come from
     * @param findOriginal reads the original after the unique key has refused an insert
     * @param options how it works
     * @param <R> the response
     * @return the store
     */
    public static <R extends @Nullable Object> JdbcStore<R> yourTable(
            DataSource dataSource, FindOriginal<R> findOriginal, YourTableOptions options) {
        return yourTable(Jdbi.create(Objects.requireNonNull(dataSource, "dataSource")), findOriginal, options);
    }

    /**
     * The library's table in the same transaction as your writes, with the defaults.
     *
     * @param jdbi where connections come from
     * @param codec turns responses into bytes and back
     * @param <R> the response
     * @return the store
     * @throws StoreException if the database can't be reached or used, or the table is not as it must be
     */
    public static <R> RecordStore<R> transactional(Jdbi jdbi, Codec<R> codec) {
        return transactional(jdbi, codec, RecordTableOptions.defaults());
    }

    /**
     * The library's table in the same transaction as your writes.
     *
     * @param jdbi where connections come from
     * @param codec turns responses into bytes and back
     * @param options how it works
     * @param <R> the response
     * @return the store
     * @throws StoreException if the database can't be reached or used, or the table is not as it must be
     */
    public static <R> RecordStore<R> transactional(Jdbi jdbi, Codec<R> codec, RecordTableOptions options) {
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(options, "options");
        Database database = Database.of(Objects.requireNonNull(jdbi, "jdbi"));
        SchemaFile.prepare(database, options.table(), options.schema());
        RecordStatements statements = new RecordStatements(options.table(), database.dialect());
        return new TransactionalStore<>(
                database,
                statements,
                new RecordTable<>(
                        statements,
                        new BatchStatements(options.table(), database.dialect()),
                        codec,
                        options.retention(),
                        options.isActionFirst()),
                options.waitAtMost());
    }

    /**
     * As {@link #transactional(Jdbi, Codec)}, from a plain data source.
     *
     * @param dataSource where connections come from
     * @param codec turns responses into bytes and back
     * @param <R> the response
     * @return the store
     */
    public static <R> RecordStore<R> transactional(DataSource dataSource, Codec<R> codec) {
        return transactional(dataSource, codec, RecordTableOptions.defaults());
    }

    /**
     * As {@link #transactional(Jdbi, Codec, RecordTableOptions)}, from a plain data source.
     *
     * @param dataSource where connections come from
     * @param codec turns responses into bytes and back
     * @param options how it works
     * @param <R> the response
     * @return the store
     */
    public static <R> RecordStore<R> transactional(DataSource dataSource, Codec<R> codec, RecordTableOptions options) {
        return transactional(Jdbi.create(Objects.requireNonNull(dataSource, "dataSource")), codec, options);
    }

    /**
     * A lease in the library's table, with {@link LeaseOptions#defaults()}.
     *
     * @param jdbi where connections come from
     * @param codec turns responses into bytes and back
     * @param <R> the response
     * @return the store
     * @throws StoreException if the database can't be reached or used, or the table is not as it must be
     */
    public static <R> IdempotencyStore<Lease, R> leased(Jdbi jdbi, Codec<R> codec) {
        return leased(jdbi, codec, LeaseOptions.defaults());
    }

    /**
     * A lease in the library's table, which is {@code idempotency_record} in the default schema, and is created if it is
     * not there.
     *
     * @param jdbi where connections come from
     * @param codec turns responses into bytes and back
     * @param options lease, retention and the rest
     * @param <R> the response
     * @return the store
     * @throws IllegalArgumentException if the lease is longer than the retention
     * @throws StoreException if the database can't be reached or used, or the table is not as it must be
     */
    public static <R> IdempotencyStore<Lease, R> leased(Jdbi jdbi, Codec<R> codec, LeaseOptions options) {
        return leased(
                jdbi, codec, options, RecordTableOptions.defaults().table().toString(), Schema.CREATE);
    }

    /**
     * A lease in the library's table.
     *
     * <ul>
     *   <li>A claim is committed before the action runs, and no connection is held while it does.
     *   <li>Callers who wait in one process don't use up the pool: of those that share a key, one asks the database.
     *   <li>A transactional store on the same table may be sent the same keys. It takes over no lease: a record in progress is
     *       refused as such, also once its lease is over.
     *   <li>Records stay in the table after their retention until they are {@linkplain RecordAdmin#purge purged}.
     * </ul>
     *
     * @param jdbi where connections come from
     * @param codec turns responses into bytes and back
     * @param options lease, retention and the rest
     * @param table where the records are: a table, with its schema before a dot if it isn't the default one; letters,
     *     digits and underscores. Stores of both modes may share it
     * @param schema what to do about the table now
     * @param <R> the response
     * @return the store
     * @throws IllegalArgumentException if the lease is longer than the retention, or that is no name of a table
     * @throws StoreException if the database can't be reached or used, or the table is not as it must be
     */
    public static <R> IdempotencyStore<Lease, R> leased(
            Jdbi jdbi, Codec<R> codec, LeaseOptions options, String table, Schema schema) {
        Objects.requireNonNull(codec, "codec");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(schema, "schema");
        TableName name = TableName.of(table);
        Database database = Database.of(Objects.requireNonNull(jdbi, "jdbi"));
        SchemaFile.prepareForLeases(database, name, schema);
        return new GatedLeases<>(new JdbcLeases(database, name), codec, options);
    }

    /**
     * As {@link #leased(Jdbi, Codec, LeaseOptions)}, from a plain data source.
     *
     * @param dataSource where connections come from
     * @param codec turns responses into bytes and back
     * @param options lease, retention and the rest
     * @param <R> the response
     * @return the store
     */
    public static <R> IdempotencyStore<Lease, R> leased(DataSource dataSource, Codec<R> codec, LeaseOptions options) {
        return leased(Jdbi.create(Objects.requireNonNull(dataSource, "dataSource")), codec, options);
    }

    /**
     * For whoever looks after the table {@code idempotency_record} in the default schema.
     *
     * @param jdbi where connections come from
     * @param windows the windows in front of the stores of this table in this process: {@code sends.window()}
     * @return the table's admin
     * @throws StoreException if the database can't be reached or used
     */
    public static RecordAdmin admin(Jdbi jdbi, Window<?>... windows) {
        return admin(jdbi, RecordTableOptions.defaults().table().toString(), windows);
    }

    /**
     * For whoever looks after a table of the library. The table is neither created nor checked.
     *
     * @param jdbi where connections come from
     * @param table where the records are: a table, with its schema before a dot if it isn't the default one
     * @param windows the windows in front of the stores of this table in this process: {@code sends.window()}
     * @return the table's admin
     * @throws IllegalArgumentException if that is no name of a table
     * @throws StoreException if the database can't be reached or used
     */
    public static RecordAdmin admin(Jdbi jdbi, String table, Window<?>... windows) {
        TableName name = TableName.of(table);
        Database database = Database.of(Objects.requireNonNull(jdbi, "jdbi"));
        SchemaFile.prepare(database, name, Schema.NONE);
        return new RecordAdmin(database, name, List.of(windows));
    }

    private static void check(Database database, YourTableOptions options) {
        if (options.uniqueKeys().isEmpty()) {
            return;
        }
        try (Handle handle = database.jdbi().open()) {
            for (UniqueKey key : options.uniqueKeys()) {
                key.check(handle.getConnection(), database.dialect());
            }
        } catch (JdbiException | SQLException e) {
            throw new StoreException("the unique keys could not be checked", e);
        }
    }
}
