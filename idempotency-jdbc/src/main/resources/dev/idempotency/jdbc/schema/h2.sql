-- One row for each key. A request with two keys, or a new key met together with a known one, makes two rows that share
-- record_id, and each has its own copy of the response.
CREATE TABLE IF NOT EXISTS ${table} (
    -- namespace, NUL, scope, NUL, id, in UTF-8: compared byte for byte
    idempotency_key VARBINARY(512) NOT NULL PRIMARY KEY,
    record_id       VARBINARY(16)  NOT NULL,
    fingerprint     VARBINARY(64),
    -- format version, kind, and what the codec made; null until the transaction that wrote the row commits, and while a
    -- lease is held
    response        BINARY LARGE OBJECT,
    -- of a leased record: who holds it or has completed it, the fencing token, and when the lease ends
    owner           VARBINARY(16),
    token           BIGINT,
    lease_until     BIGINT,
    -- microseconds since 1970-01-01T00:00Z, which no time zone bends
    created_at      BIGINT         NOT NULL,
    expires_at      BIGINT         NOT NULL
);

CREATE INDEX IF NOT EXISTS ${index} ON ${table} (expires_at);
-- all names of a record: for taking over, and for whoever looks after the table
CREATE INDEX IF NOT EXISTS ${record_index} ON ${table} (record_id);
