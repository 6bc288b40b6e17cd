package dev.idempotency.testkit;

import dev.idempotency.Action;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.testkit.Memory.Row;
import dev.idempotency.testkit.Memory.Transaction;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Wrong about failures, locks, commits or time. */
enum CommitFault implements Fault {
    WRAPS_THE_ACTIONS_EXCEPTION("S2, W-1: an unchecked exception passes unchanged") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                <X extends Exception> String run(
                        Action<? super Transaction, ? extends @Nullable String, X> action, Transaction transaction)
                        throws X {
                    try {
                        return super.run(action, transaction);
                    } catch (RuntimeException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
        }
    },
    REPLAYS_A_FAILED_FIRST("S2, W-1: a checked exception passes unchanged, leaves nothing behind") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                void end(Transaction transaction, Request request, boolean done) {
                    if (!done) {
                        Original<@Nullable String> failed = new Original<>(identity(), "failed", null);
                        transaction.write(request.keys(), new Row(failed, Long.MAX_VALUE));
                        transaction.commit();
                    }
                    super.end(transaction, request, done);
                }
            };
        }
    },
    KEEPS_ITS_LOCKS_AFTER_AN_ERROR("S2, W-1: an error passes unchanged, leaves nothing behind") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory, Duration.ZERO) {
                private volatile boolean failed;

                @Override
                <X extends Exception> String run(
                        Action<? super Transaction, ? extends @Nullable String, X> action, Transaction transaction)
                        throws X {
                    try {
                        return super.run(action, transaction);
                    } catch (Error e) {
                        failed = true;
                        throw e;
                    }
                }

                @Override
                void end(Transaction transaction, Request request, boolean done) {
                    if (!failed) {
                        super.end(transaction, request, done);
                    }
                }
            };
        }
    },
    FORGETS_EVERY_SECOND_TIME("W-7: a key sent six times is executed once and replayed five times") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                List<IdempotencyKey> names(Request request, Map<IdempotencyKey, Row> found) {
                    Transaction transaction = memory.begin();
                    Original<@Nullable String> gone = new Original<>(identity(), "gone", null);
                    transaction.write(request.keys(), new Row(gone, Long.MIN_VALUE / 2));
                    transaction.commit();
                    return List.of();
                }
            };
        }
    },
    LOOKS_AND_THEN_RUNS("S1: of 64 threads with one key, one commits") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                @Nullable
                IdempotencyKey lock(Transaction transaction, Collection<IdempotencyKey> keys) {
                    return null;
                }

                @Override
                void beforeTheAction() {
                    wideOpen();
                }
            };
        }
    },
    LOCKS_WITHIN_ONE_SERVER_ONLY("S1: of 64 threads with one key at two servers") {
        @Override
        public ReferenceStore over(Memory memory) {
            Memory ownLocks = new Memory();
            return new ReferenceStore(memory) {
                @Override
                @Nullable
                IdempotencyKey lock(Transaction transaction, Collection<IdempotencyKey> keys) {
                    return null;
                }

                @Override
                public <X extends Exception> Outcome<@Nullable String> execute(
                        Request request,
                        Action<? super Transaction, ? extends @Nullable String, X> action,
                        Publication<? super @Nullable String> publication)
                        throws X {
                    Transaction gate = ownLocks.begin();
                    try {
                        IdempotencyKey taken = super.lock(gate, request.keys());
                        return taken == null ? super.execute(request, action, publication) : busy(taken);
                    } finally {
                        gate.end();
                    }
                }

                @Override
                void beforeTheAction() {
                    wideOpen();
                }
            };
        }
    },
    KEEPS_RECORDS_IN_ONE_SERVER("S1: what one server has stored, another one replays") {
        @Override
        public ReferenceStore over(Memory memory) {
            Memory own = new Memory();
            return new ReferenceStore(own) {
                @Override
                <X extends Exception> String run(
                        Action<? super Transaction, ? extends @Nullable String, X> action, Transaction transaction)
                        throws X {
                    Transaction effects = memory.begin();
                    String response = super.run(action, effects);
                    effects.commit();
                    return response;
                }
            };
        }
    },
    REPLAYS_WHAT_IS_IN_PROGRESS("S1: of 64 threads with one key, one commits") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory, Duration.ZERO) {
                @Override
                Outcome<@Nullable String> busy(IdempotencyKey taken) {
                    return new Replayed<>("soon", taken, Outcome.Source.STORE);
                }

                @Override
                void beforeTheAction() {
                    wideOpen();
                }
            };
        }
    },
    LOCKS_THE_FIRST_KEY_ONLY("S1, S8: chains of keys") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                @Nullable
                IdempotencyKey lock(Transaction transaction, Collection<IdempotencyKey> keys) {
                    return super.lock(transaction, List.of(keys.iterator().next()));
                }

                @Override
                void beforeTheAction() {
                    wideOpen();
                }
            };
        }
    },
    LOCKS_NEIGHBOURS_TOGETHER("J-3: 50 threads with new neighbouring keys") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory, Duration.ZERO) {
                @Override
                @Nullable
                IdempotencyKey lock(Transaction transaction, Collection<IdempotencyKey> keys) {
                    return super.lock(
                            transaction,
                            keys.stream()
                                    .map(key -> IdempotencyKey.of(
                                            "page", "of", key.id().substring(0, 1)))
                                    .toList());
                }

                @Override
                void beforeTheAction() {
                    wideOpen();
                }
            };
        }
    },
    SWALLOWS_THE_INTERRUPT("J-14, S14: a thread that waits and is interrupted stops") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                @Nullable
                IdempotencyKey lock(Transaction transaction, Collection<IdempotencyKey> keys) {
                    try {
                        return super.lock(transaction, keys);
                    } finally {
                        Thread.interrupted();
                    }
                }
            };
        }
    },
    NEVER_EXPIRES("S11, W-10: an expired record counts as absent") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                boolean isLive(Row row) {
                    return true;
                }
            };
        }
    },
    EXPIRES_TOO_EARLY("S11: a record is there until the end of its retention") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                boolean isLive(Row row) {
                    return remaining(row).compareTo(RETENTION.dividedBy(2)) > 0;
                }
            };
        }
    },
    TELLS_THE_WHOLE_RETENTION("W-10, W3: the record expires before the window's entry does") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Duration remaining(Row row) {
                    return RETENTION;
                }
            };
        }
    },
    JOINS_THE_OUTER_CALL("S6: an inner call is a transaction of its own") {
        @Override
        public ReferenceStore over(Memory memory) {
            Map<Thread, Transaction> open = new ConcurrentHashMap<>();
            return new ReferenceStore(memory) {
                @Override
                Transaction begin() {
                    Transaction outer = open.get(Thread.currentThread());
                    if (outer != null) {
                        return outer;
                    }
                    Transaction transaction = super.begin();
                    open.put(Thread.currentThread(), transaction);
                    return transaction;
                }

                @Override
                void commitAndPublish(
                        Transaction transaction,
                        List<IdempotencyKey> names,
                        Row row,
                        Publication<? super @Nullable String> publication) {
                    if (names.contains(Keys.message("inner"))) {
                        return;
                    }
                    super.commitAndPublish(transaction, names, row, publication);
                }

                @Override
                void end(Transaction transaction, Request request, boolean done) {
                    if (!request.keys().contains(Keys.message("inner"))) {
                        open.remove(Thread.currentThread());
                        super.end(transaction, request, done);
                    }
                }
            };
        }
    },
    COMMITS_THE_EFFECT_BY_ITSELF("S2: an unchecked exception after the effect undoes the effect") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                <X extends Exception> String run(
                        Action<? super Transaction, ? extends @Nullable String, X> action, Transaction transaction)
                        throws X {
                    Transaction effects = memory.begin();
                    try {
                        return super.run(action, effects);
                    } finally {
                        effects.commit();
                    }
                }
            };
        }
    },
    RUNS_AND_COMMITS_ON_A_REPEAT("S1: nothing that the action of a repeat may have written is stored") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                public <X extends Exception> Outcome<@Nullable String> execute(
                        Request request,
                        Action<? super Transaction, ? extends @Nullable String, X> action,
                        Publication<? super @Nullable String> publication)
                        throws X {
                    Outcome<@Nullable String> outcome = super.execute(request, action, publication);
                    if (outcome instanceof Replayed || outcome instanceof InProgress) {
                        Transaction late = memory.begin();
                        action.run(late);
                        late.commit();
                    }
                    return outcome;
                }
            };
        }
    };

    private static final AtomicInteger IN_THE_GAP = new AtomicInteger();

    private final String test;

    CommitFault(String test) {
        this.test = test;
    }

    @Override
    public String test() {
        return test;
    }

    /**
     * Makes the time between looking and committing long, so that a test need not be lucky: until another call of the
     * crowd stands between the two as well, or none has come for a while.
     */
    private static void wideOpen() {
        if (!Thread.currentThread().getName().startsWith("crowd-")) {
            return;
        }
        IN_THE_GAP.incrementAndGet();
        long patience = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200);
        do {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        } while (IN_THE_GAP.get() < 2 && System.nanoTime() - patience < 0);
        IN_THE_GAP.decrementAndGet();
    }
}
