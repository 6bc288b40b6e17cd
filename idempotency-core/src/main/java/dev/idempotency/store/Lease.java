package dev.idempotency.store;

public interface Lease {}
