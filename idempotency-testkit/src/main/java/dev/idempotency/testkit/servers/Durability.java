package dev.idempotency.testkit.servers;

/** What a commit means to a server. */
public enum Durability {
    /** Nothing is flushed to the disk: fast, and committed work may be lost with the server. */
    FAST,

    /** What is committed is on the disk, as far as the disk keeps its word: it outlives the server. */
    DURABLE
}
