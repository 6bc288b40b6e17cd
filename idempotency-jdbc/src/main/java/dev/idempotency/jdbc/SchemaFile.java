package dev.idempotency.jdbc;

import dev.idempotency.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;

/** Creates and validates the library's table. */
final class SchemaFile {

    private static final List<String> COLUMNS = List.of(
            "idempotency_key",
            "record_id",
            "fingerprint",
            "response",
            "owner",
            "token",
            "lease_until",
            "created_at",
            "expires_at");

    private static final Pattern COMMENTS = Pattern.compile("--[^\n]*");

    private SchemaFile() {}

    /** As {@link #prepare}, and sees to the index that takeovers need: without it they would read, or lock, the whole table. */
    static void prepareForLeases(Database database, TableName table, Schema schema) {
        prepare(database, table, schema);
        if (schema == Schema.NONE) {
            return;
        }
        try (var handle = database.jdbi().open()) {
            boolean indexed = isIndexed(handle.getConnection(), table, "record_id");
            if (!database.autoCommit()) {
                handle.getConnection().rollback();
            }
            if (!indexed) {
                throw new StoreException(
                        "the table " + table + " has no index that begins with record_id; create it as the file schema/"
                                + database.dialect().schemaFile() + " in this module does",
                        null);
            }
        } catch (JdbiException | SQLException e) {
            throw new StoreException("the indexes of the table " + table + " could not be looked at", e);
        }
    }

    private static boolean isIndexed(Connection connection, TableName name, String column) throws SQLException {
        StoredTable table = StoredTable.of(connection, name);
        try (ResultSet indexes =
                connection.getMetaData().getIndexInfo(table.catalog(), table.schema(), table.table(), false, true)) {
            while (indexes.next()) {
                if (column.equalsIgnoreCase(indexes.getString("COLUMN_NAME"))
                        && indexes.getInt("ORDINAL_POSITION") == 1) {
                    return true;
                }
            }
            return false;
        }
    }

    static void prepare(Database database, TableName table, Schema schema) {
        if (database.dialect().schemaFile().isEmpty()) {
            throw new StoreException(
                    "the library's table is not known to work on this database; the unique key on your own table does"
                            + " (JdbcStores.yourTable)",
                    null);
        }
        if (schema == Schema.NONE) {
            return;
        }
        try (var handle = database.jdbi().open()) {
            Connection connection = handle.getConnection();
            SQLException notCreated = schema == Schema.CREATE ? create(connection, database.dialect(), table) : null;
            if (notCreated != null && !database.autoCommit()) {
                connection.rollback();
            }
            validate(connection, database.dialect(), table, notCreated);
            if (!database.autoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new StoreException("the table " + table + " could not be prepared", e);
        }
    }

    /** Two servers that start at once may get in each other's way; whether the table is right then is what counts. */
    private static @Nullable SQLException create(Connection connection, Dialect dialect, TableName table) {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements(dialect, table)) {
                statement.execute(sql);
            }
            return null;
        } catch (SQLException e) {
            return e;
        }
    }

    private static void validate(
            Connection connection, Dialect dialect, TableName table, @Nullable SQLException notCreated)
            throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT " + String.join(", ", COLUMNS) + " FROM " + table + " WHERE 1 = 0");
        } catch (SQLException e) {
            throw new StoreException(
                    "the table " + table + " is not there or lacks one of the columns " + COLUMNS
                            + "; create it as the file schema/" + dialect.schemaFile() + " in this module does",
                    notCreated == null ? e : notCreated);
        }
        new UniqueKey(table.toString(), List.of("idempotency_key")).check(connection, dialect);
    }

    private static List<String> statements(Dialect dialect, TableName table) {
        String sql = COMMENTS.matcher(read(dialect.schemaFile()))
                .replaceAll("")
                .replace("${table}", table.toString())
                .replace("${index}", table.table() + "_expires_at")
                .replace("${record_index}", table.table() + "_record_id");
        return List.of(sql.split(";")).stream()
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    private static String read(String file) {
        try (InputStream in = SchemaFile.class.getResourceAsStream("schema/" + file)) {
            if (in == null) {
                throw new IllegalStateException("schema/" + file + " is missing from the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
