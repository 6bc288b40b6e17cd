package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Refused;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Stores that lease wrongly, each in one way, and how the name of a test begins that must fail on them. */
enum LeaseFault {
    HONEST("") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases();
        }
    },
    GIVES_THE_SAME_TOKEN_AGAIN("S10: tokens of a key grow from one release to the next") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                long nextToken() {
                    return 1;
                }
            };
        }
    },
    HIDES_A_TAKEOVER("K-6, L-8: after its effect has started") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                boolean tellsTakeover() {
                    return false;
                }
            };
        }
    },
    FORGETS_A_TAKEOVER("S10, K-6: who took over and fails before its effect") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                void giveBack(Held held) {
                    remove(held);
                }
            };
        }
    },
    KEEPS_WHAT_WAS_TAKEN_OVER("S10, K-6: who took over and fails before its effect") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                boolean keepsAfter(Held held) {
                    return held.takenOver || super.keepsAfter(held);
                }
            };
        }
    },
    LETS_A_LATE_HOLDER_COMPLETE("L-4: A pauses past its lease and B takes over; A cannot extend, start or complete") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                void checkOwner(Held held) {}
            };
        }
    },
    LETS_A_LATE_HOLDER_RELEASE("L-4: A pauses past its lease and B takes over; A fails, and does not release") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                void release(Request request, Held held) {
                    synchronized (this) {
                        removeAll(request);
                    }
                }
            };
        }
    },
    RELEASES_AFTER_THE_EFFECT("K-6, L-8: after its effect has started the key stays taken") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                boolean keepsAfter(Held held) {
                    return false;
                }
            };
        }
    },
    KEEPS_THE_KEY_AFTER_EVERY_FAILURE("K-6: an action that fails before its effect starts releases the key") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                boolean keepsAfter(Held held) {
                    return true;
                }
            };
        }
    },
    SAYS_IN_PROGRESS_BEFORE_IT_COMPARES("L-3, L-14: while A runs") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                @Nullable
                Refused<@Nullable String> refusal(
                        Request request,
                        Map<IdempotencyKey, Original<@Nullable String>> originals,
                        Map<IdempotencyKey, Held> found) {
                    for (Map.Entry<IdempotencyKey, Held> entry : found.entrySet()) {
                        if (!entry.getValue().done) {
                            return new InProgress<>(entry.getKey(), Duration.ofMillis(1));
                        }
                    }
                    return super.refusal(request, originals, found);
                }
            };
        }
    },
    PROLONGS_THE_LEASE_OF_ANOTHER("L-3, L-14: while A runs") {
        @Override
        ReferenceLeases store() {
            return new ReferenceLeases() {
                @Override
                @Nullable
                Refused<@Nullable String> refusal(
                        Request request,
                        Map<IdempotencyKey, Original<@Nullable String>> originals,
                        Map<IdempotencyKey, Held> found) {
                    found.values().forEach(held -> held.leaseEnds += LEASE.toNanos());
                    return super.refusal(request, originals, found);
                }
            };
        }
    };

    private final String test;

    LeaseFault(String test) {
        this.test = test;
    }

    String test() {
        return test;
    }

    abstract ReferenceLeases store();
}
