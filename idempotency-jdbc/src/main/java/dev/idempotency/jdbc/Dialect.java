package dev.idempotency.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Set;

/**
 * All that differs between databases, as data.
 *
 * @param schemaFile the file in {@code schema/} with the library's table, or empty if the library's table can't be used
 * @param clock how it tells the time
 * @param returnsInserted whether an insert can return what it has inserted
 * @param takesArrays whether an insert can take its rows from arrays, one for each column
 * @param largestStatement reads how many bytes a statement may have; empty if there is no such limit
 * @param firstRows bounds a query to a number of rows, which is bound
 * @param rerunStates SQLStates beside class 40 that mean "run the whole transaction again"
 * @param rerunCodes vendor codes that mean the same, where the SQLState says nothing
 * @param endingCodes vendor codes, beside SQLState class 40, of errors after which the whole transaction is gone
 * @param errorsAbort whether any error aborts the transaction, so that a commit stores nothing
 * @param looseColumns lists those columns of a table, and their types, that take different texts for one; its parameters
 *     are the schema, which may be null, and the table. Empty if that can't be asked
 */
record Dialect(
        String schemaFile,
        Clock clock,
        boolean returnsInserted,
        boolean takesArrays,
        String largestStatement,
        String firstRows,
        Set<String> rerunStates,
        Set<Integer> rerunCodes,
        Set<Integer> endingCodes,
        boolean errorsAbort,
        String looseColumns) {

    /** H2 takes LIMIT in some of its modes only. */
    private static final String STANDARD = " FETCH FIRST ? ROWS ONLY";

    /**
     * Lock time-out (50200), concurrent update (90131), and a row that was replaced under a locking read at READ
     * UNCOMMITTED (90143); a deadlock is 40001. An error inside H2 itself (50000) was seen where a deadlock undid a transaction
     * that was being undone already; what such a transaction has done is not to be built upon. Its own clock stands still.
     */
    static final Dialect H2 = new Dialect(
            "h2.sql",
            Clock.BOUND,
            false,
            false,
            "",
            STANDARD,
            Set.of("HYT00", "90131", "90143"),
            Set.of(),
            Set.of(50000),
            false,
            """
            SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS
              WHERE UPPER(TABLE_SCHEMA) = UPPER(COALESCE(?, SCHEMA())) AND UPPER(TABLE_NAME) = UPPER(?)
                AND (UPPER(DATA_TYPE) = 'VARCHAR_IGNORECASE'
                     OR UPPER(DATA_TYPE) LIKE '%CHAR%' AND ('a' = 'A' OR 'e' = U&'\\00e9'))""");

    /** Lock time-out (55P03); serialization failures and deadlocks are 40001 and 40P01. */
    static final Dialect POSTGRESQL = new Dialect(
            "postgresql.sql",
            new Clock("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)", true),
            true,
            true,
            "",
            STANDARD,
            Set.of("55P03"),
            Set.of(),
            Set.of(),
            true,
            """
            SELECT a.attname, t.typname FROM pg_attribute a
              JOIN pg_type d ON d.oid = a.atttypid
              JOIN pg_type t ON t.oid = COALESCE(NULLIF(d.typbasetype, 0), d.oid)
              LEFT JOIN pg_collation c ON c.oid = a.attcollation
             WHERE a.attrelid = to_regclass(COALESCE(? || '.', '') || ?)
               AND (t.typname = 'citext' OR NOT c.collisdeterministic)""");

    static final Dialect MARIADB = new Dialect(
            "mariadb.sql",
            Mysql.CLOCK,
            true,
            false,
            Mysql.LARGEST_STATEMENT,
            Mysql.FIRST_ROWS,
            Set.of(),
            Set.of(Mysql.LOCK_WAIT_TIMEOUT),
            Set.of(Mysql.RECORD_CHANGED),
            false,
            Mysql.LOOSE_COLUMNS);

    static final Dialect MYSQL = new Dialect(
            "mysql.sql",
            Mysql.CLOCK,
            false,
            false,
            Mysql.LARGEST_STATEMENT,
            Mysql.FIRST_ROWS,
            Set.of(),
            Set.of(Mysql.LOCK_WAIT_TIMEOUT),
            Set.of(),
            false,
            Mysql.LOOSE_COLUMNS);

    /** Any database whose violations of a unique key have SQLState class 23. */
    static final Dialect UNKNOWN =
            new Dialect("", Clock.BOUND, false, false, "", "", Set.of(), Set.of(), Set.of(), false, "");

    /** What MariaDB and MySQL have in common. */
    private static final class Mysql {

        /** Does not depend on the session's time zone, and is the same all through one statement. */
        static final Clock CLOCK =
                new Clock("TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))", false);

        static final String LARGEST_STATEMENT = "SELECT @@max_allowed_packet";

        static final String FIRST_ROWS = " LIMIT ?";

        static final int LOCK_WAIT_TIMEOUT = 1205;

        /** A record is newer than the snapshot, with {@code innodb_snapshot_isolation}: undoes the whole transaction. */
        static final int RECORD_CHANGED = 1020;

        /** All binary collations but these pad with blanks, so that "a" equals "a "; and a key on a prefix cuts. */
        static final String LOOSE_COLUMNS = """
                SELECT c.column_name, CONCAT(c.column_type, COALESCE(CONCAT(' collate ', c.collation_name), ''))
                  FROM information_schema.columns c
                 WHERE c.table_schema = COALESCE(?, DATABASE()) AND c.table_name = ?
                   AND (c.collation_name NOT LIKE '%nopad\\_bin' AND c.collation_name <> 'utf8mb4_0900_bin'
                        OR EXISTS (SELECT 1 FROM information_schema.statistics s
                                    WHERE s.table_schema = c.table_schema AND s.table_name = c.table_name
                                      AND s.column_name = c.column_name AND s.non_unique = 0
                                      AND s.sub_part IS NOT NULL))""";
    }

    static Dialect of(Connection connection) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        return switch (metaData.getDatabaseProductName().toUpperCase(Locale.ROOT)) {
            case "H2" -> H2;
            case "POSTGRESQL" -> POSTGRESQL;
            case "MARIADB" -> MARIADB;
            // MySQL's driver gives its own name to a MariaDB server as well; the version tells.
            case "MYSQL" -> metaData.getDatabaseProductVersion().contains("MariaDB") ? MARIADB : MYSQL;
            default -> UNKNOWN;
        };
    }

    /**
     * Whether a transaction begins only with the first statement that touches a table, so that a savepoint set before it
     * does not go away with a rollback, which the driver does not even send.
     */
    boolean beginsLate() {
        return equals(MARIADB) || equals(MYSQL);
    }

    /** Whether nobody has bounded how long this connection waits for locks; the other databases do by default. */
    boolean waitsForEver(Connection connection) throws SQLException {
        if (!equals(POSTGRESQL)) {
            return false;
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW lock_timeout")) {
            return row.next() && "0".equals(row.getString(1));
        }
    }
}
