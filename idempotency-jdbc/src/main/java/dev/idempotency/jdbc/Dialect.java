package dev.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/**
 * All that differs between databases, as data.
 *
 * @param schemaFile the file in {@code schema/} with the library's table, or empty if the library's table can't be used
 * @param skipLocked what to append to a locking read so that it passes over rows that others have locked
 * @param rerunStates SQLStates beside class 40 that mean "run the whole transaction again"
 * @param looseTypes names of types that compare texts more loosely than byte for byte
 * @param looseTextProbe asks whether the collation of the database does so, or empty if there is no such thing
 */
record Dialect(
        String schemaFile, String skipLocked, Set<String> rerunStates, Set<String> looseTypes, String looseTextProbe) {

    /**
     * Lock time-out (50200), concurrent update (90131), and a row that was replaced under a locking read at READ
     * UNCOMMITTED (90143); a deadlock is 40001.
     */
    static final Dialect H2 = new Dialect(
            "h2.sql",
            " FOR UPDATE SKIP LOCKED",
            Set.of("HYT00", "90131", "90143"),
            Set.of("CHARACTER", "CHAR", "VARCHAR_IGNORECASE"),
            "SELECT 'a' = 'A' OR 'e' = U&'\\00e9'");

    /** Any database whose violations of a unique key have SQLState class 23. */
    static final Dialect UNKNOWN = new Dialect("", "", Set.of(), Set.of("CHARACTER", "CHAR", "BPCHAR", "CITEXT"), "");

    static Dialect of(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName().equals("H2") ? H2 : UNKNOWN;
    }
}
