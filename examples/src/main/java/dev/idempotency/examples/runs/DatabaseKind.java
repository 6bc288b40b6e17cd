package dev.idempotency.examples.runs;

import java.util.Locale;

/** The databases that a run can be about, and what each calls its types. */
enum DatabaseKind {
    POSTGRESQL("varchar(255)", "text"),
    POSTGRESQL17("varchar(255)", "text"),
    MARIADB("varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin", "longtext character set utf8mb4"),
    H2("varchar(255)", "varchar"),
    /** For the store in Redis, and only for that. */
    REDIS("", ""),
    /** Three masters, likewise. */
    REDIS_CLUSTER("", "");

    private final String key;
    private final String text;

    DatabaseKind(String key, String text) {
        this.key = key;
        this.text = text;
    }

    boolean isRedis() {
        return this == REDIS || this == REDIS_CLUSTER;
    }

    /** SQL with this database's own types for KEY and TEXT. */
    String sql(String template) {
        return template.replace("KEY_TYPE", key).replace("TEXT_TYPE", text);
    }

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
