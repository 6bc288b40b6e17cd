package dev.idempotency.jdbc;

import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of a table, safe to stand in a statement as it is: the one thing that can't be a parameter.
 *
 * @param schema the schema, or null for the connection's own
 * @param table the table
 */
record TableName(@Nullable String schema, String table) {

    private static final Pattern ALLOWED =
            Pattern.compile("(?:([A-Za-z_][A-Za-z0-9_]{0,50})\\.)?([A-Za-z_][A-Za-z0-9_]{0,50})");

    static TableName of(String name) {
        var parts = ALLOWED.matcher(Objects.requireNonNull(name, "table"));
        if (!parts.matches()) {
            throw new IllegalArgumentException("a table's name is one word, or a schema and a word with a dot between,"
                    + " each of at most 51 letters, digits and underscores, and no digit first");
        }
        return new TableName(parts.group(1), parts.group(2));
    }

    @Override
    public String toString() {
        return schema == null ? table : schema + '.' + table;
    }
}
