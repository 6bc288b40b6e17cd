package dev.idempotency.jdbc;

import dev.idempotency.StoreException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A unique key that a table must have, on exactly these columns: the one guarantee that all the rest leans on.
 *
 * @param table the table, with a schema before a dot or without
 * @param columns the columns, in any order
 */
record UniqueKey(String table, List<String> columns) {

    UniqueKey {
        TableName.of(table);
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("a unique key has at least one column");
        }
        columns = List.copyOf(columns);
    }

    /** Types that lose the blanks at the end, on every database. */
    private static final Set<String> PADDED = Set.of("CHARACTER", "CHAR", "BPCHAR");

    /** Throws unless the key is there and its columns compare byte for byte. */
    void check(Connection connection, Dialect dialect) throws SQLException {
        TableName name = TableName.of(table);
        DatabaseMetaData metaData = connection.getMetaData();
        StoredTable stored = StoredTable.of(connection, name);
        Set<String> wanted = new TreeSet<>();
        columns.forEach(column -> wanted.add(column.toUpperCase(Locale.ROOT)));

        Map<String, String> types = types(metaData, stored);
        if (types.isEmpty()) {
            throw new StoreException("there is no table " + table + "; create it before the store is made", null);
        }
        Map<String, String> loose = looseColumns(connection, dialect, name);
        for (String column : wanted) {
            String type = types.get(column);
            if (type == null) {
                throw new StoreException("the table " + table + " has no column " + column, null);
            }
            if (PADDED.contains(type) || loose.containsKey(column)) {
                throw new StoreException(
                        "the column " + column + " of " + table + ", of type " + loose.getOrDefault(column, type)
                                + ", takes different keys for one (by case, accents, trailing blanks or length); give it a"
                                + " type and a collation that compare byte for byte",
                        null);
            }
        }
        Collection<Set<String>> keys = uniqueKeys(metaData, stored);
        if (!keys.contains(wanted)) {
            throw new StoreException(
                    "the table " + table + " has no unique key on exactly " + wanted + ", without which nothing stops a"
                            + " repeat; it has " + keys,
                    null);
        }
    }

    private static Map<String, String> looseColumns(Connection connection, Dialect dialect, TableName table)
            throws SQLException {
        Map<String, String> loose = new HashMap<>();
        if (dialect.looseColumns().isEmpty()) {
            return loose;
        }
        try (PreparedStatement statement = connection.prepareStatement(dialect.looseColumns())) {
            statement.setString(1, table.schema());
            statement.setString(2, table.table());
            try (ResultSet columns = statement.executeQuery()) {
                while (columns.next()) {
                    loose.put(columns.getString(1).toUpperCase(Locale.ROOT), columns.getString(2));
                }
            }
        }
        return loose;
    }

    private static Map<String, String> types(DatabaseMetaData metaData, StoredTable table) throws SQLException {
        Map<String, String> types = new HashMap<>();
        try (ResultSet columns = metaData.getColumns(table.catalog(), table.schema(), table.table(), null)) {
            while (columns.next()) {
                // What was asked for are patterns, in which an underscore stands for any letter.
                if (isNamed(columns.getString("TABLE_NAME"), table.table())
                        && isNamed(columns.getString("TABLE_SCHEM"), table.schema())) {
                    types.put(
                            columns.getString("COLUMN_NAME").toUpperCase(Locale.ROOT),
                            columns.getString("TYPE_NAME").toUpperCase(Locale.ROOT));
                }
            }
        }
        return types;
    }

    private static Collection<Set<String>> uniqueKeys(DatabaseMetaData metaData, StoredTable table)
            throws SQLException {
        Map<String, Set<String>> byIndex = new HashMap<>();
        try (ResultSet indexes = metaData.getIndexInfo(table.catalog(), table.schema(), table.table(), true, true)) {
            while (indexes.next()) {
                String column = indexes.getString("COLUMN_NAME");
                if (column != null) {
                    byIndex.computeIfAbsent(indexes.getString("INDEX_NAME"), index -> new TreeSet<>())
                            .add(column.toUpperCase(Locale.ROOT));
                }
            }
        }
        return new HashSet<>(byIndex.values());
    }

    private static boolean isNamed(@Nullable String name, @Nullable String asked) {
        return name == null || asked == null || name.equalsIgnoreCase(asked);
    }
}
