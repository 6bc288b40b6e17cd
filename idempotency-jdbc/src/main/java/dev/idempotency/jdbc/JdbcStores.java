package dev.idempotency.jdbc;

import dev.idempotency.Codec;
import dev.idempotency.StoreException;
import java.sql.SQLException;
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
 *       your own insert. Any database whose violations of a unique key have SQLState class 23.
 *   <li>{@link #transactional}: the library's table, written in the same transaction as yours. H2, PostgreSQL, MariaDB, and
 *       MySQL, which is tested on MariaDB.
 * </ul>
 *
 * <p>Each is made from a {@link Jdbi} or a plain {@link DataSource}, whatever its pool's defaults for autocommit and
 * isolation are. The connections must be the store's own: not bound to a transaction that is open on the thread. A
 * store takes one connection for a short while when it is made, to see which database it is.
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
                database, new YourTable<>(findOriginal, options.retention()), options.waitAtMost());
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
                database, statements, new RecordTable<>(statements, codec, options.retention()), options.waitAtMost());
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

    private static void check(Database database, YourTableOptions options) {
        if (options.uniqueKeys().isEmpty()) {
            return;
        }
        try (Handle handle = database.jdbi().open()) {
            for (UniqueKey key : options.uniqueKeys()) {
                key.check(handle.getConnection(), database.dialect());
            }
            if (!database.autoCommit()) {
                handle.getConnection().rollback();
            }
        } catch (JdbiException | SQLException e) {
            throw new StoreException("the unique keys could not be checked", e);
        }
    }
}
