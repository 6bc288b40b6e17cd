/** Stores in a database, through Jdbi. Start with {@link dev.idempotency.jdbc.JdbcStores}. */
module dev.idempotency.jdbc {
    requires transitive dev.idempotency.core;
    requires transitive java.sql;
    requires transitive org.jdbi.v3.core;
    requires static transitive org.jspecify;

    exports dev.idempotency.jdbc;
}
