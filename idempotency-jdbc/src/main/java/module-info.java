/** Stores in a database, through Jdbi. Start with {@link dev.idempotency.jdbc.JdbcStores}. */
module dev.idempotency.jdbc {
    requires transitive dev.idempotency.core;
    requires transitive java.sql;
    requires transitive org.jdbi.v3.core;
    // Needed by Jdbi, which as an automatic module cannot say so.
    requires io.leangen.geantyref;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports dev.idempotency.jdbc;
}
