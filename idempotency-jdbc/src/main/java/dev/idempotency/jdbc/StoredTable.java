package dev.idempotency.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where a table is, as the catalog of its database spells it.
 *
 * @param catalog the catalog, or null
 * @param schema the schema; null where there are none
 * @param table the table
 */
record StoredTable(@Nullable String catalog, @Nullable String schema, String table) {

    static StoredTable of(Connection connection, TableName name) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        // What stands before the dot is a catalog where there are no schemas, as on MariaDB.
        boolean schemas = metaData.supportsSchemasInTableDefinitions();
        String qualifier = name.schema() == null ? null : stored(metaData, name.schema());
        return new StoredTable(
                schemas || qualifier == null ? connection.getCatalog() : qualifier,
                schemas ? (qualifier == null ? connection.getSchema() : qualifier) : null,
                stored(metaData, name.table()));
    }

    private static String stored(DatabaseMetaData metaData, String name) throws SQLException {
        if (metaData.storesUpperCaseIdentifiers()) {
            return name.toUpperCase(Locale.ROOT);
        }
        return metaData.storesLowerCaseIdentifiers() ? name.toLowerCase(Locale.ROOT) : name;
    }
}
