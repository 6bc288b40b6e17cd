package dev.idempotency.testkit;

import dev.idempotency.Action;
import dev.idempotency.Fingerprint;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Original;
import dev.idempotency.Outcome;
import dev.idempotency.Publication;
import dev.idempotency.Request;
import dev.idempotency.testkit.Memory.Row;
import dev.idempotency.testkit.Memory.Transaction;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Wrong about keys, about what is published, or about the answer. */
enum AnswerFault implements Fault {
    PUBLISHES_BEFORE_THE_COMMIT("W1: an original is published after its commit") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                void commitAndPublish(
                        Transaction transaction,
                        List<IdempotencyKey> names,
                        Row row,
                        Publication<? super @Nullable String> publication) {
                    publication.committed(names, row.original(), remaining(row));
                    transaction.commit();
                }
            };
        }
    },
    PUBLISHES_FAILURES("W-1: a failed first call leaves nothing in the window") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                public <X extends Exception> Outcome<@Nullable String> execute(
                        Request request,
                        Action<? super Transaction, ? extends @Nullable String, X> action,
                        Publication<? super @Nullable String> publication)
                        throws X {
                    try {
                        return super.execute(request, action, publication);
                    } catch (Exception e) {
                        publication.committed(
                                request.keys(), new Original<>("failed", "failed", request.fingerprint()), RETENTION);
                        throw e;
                    }
                }
            };
        }
    },
    NEVER_PUBLISHES_A_REPLAY("W4: an original that was read from the store is published again") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                List<IdempotencyKey> publishedNames(Request request, Map<IdempotencyKey, Row> found) {
                    return List.of();
                }
            };
        }
    },
    PUBLISHES_NAMES_THAT_IT_DOES_NOT_RECORD("W1, S8: only names that the store has recorded") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                List<IdempotencyKey> names(Request request, Map<IdempotencyKey, Row> found) {
                    return List.copyOf(found.keySet());
                }

                @Override
                List<IdempotencyKey> publishedNames(Request request, Map<IdempotencyKey, Row> found) {
                    return request.keys();
                }
            };
        }
    },
    FORGETS_NEW_NAMES("J-8, S8: a new message ID with a known business ID becomes one more name") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                List<IdempotencyKey> names(Request request, Map<IdempotencyKey, Row> found) {
                    return List.copyOf(found.keySet());
                }
            };
        }
    },
    GIVES_ALL_RECORDS_ONE_IDENTITY("W2: keys of two records that are both in the window are a conflict") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Object identity() {
                    return "the same";
                }
            };
        }
    },
    PICKS_ONE_ON_CONFLICT("J-8, S8: keys of two originals are a conflict") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Outcome<@Nullable String> judge(Request request, Map<IdempotencyKey, Row> found) {
                    IdempotencyKey first = found.keySet().iterator().next();
                    return super.judge(request, Map.of(first, Objects.requireNonNull(found.get(first))));
                }
            };
        }
    },
    PUTS_A_MISMATCH_BEFORE_A_CONFLICT("K-3: a conflict goes before a mismatch") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Outcome<@Nullable String> judge(Request request, Map<IdempotencyKey, Row> found) {
                    for (Map.Entry<IdempotencyKey, Row> entry : found.entrySet()) {
                        Fingerprint kept = entry.getValue().original().fingerprint();
                        if (Fingerprint.differ(kept, request.fingerprint())) {
                            return new Outcome.Mismatch<>(entry.getKey());
                        }
                    }
                    return super.judge(request, found);
                }
            };
        }
    },
    RECORDS_NAMES_BEFORE_IT_JUDGES("S8, K-3: a mismatch records no name") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Outcome<@Nullable String> judge(Request request, Map<IdempotencyKey, Row> found) {
                    recordNewNames(memory, request, found);
                    return super.judge(request, found);
                }
            };
        }
    },
    RECORDS_NAMES_ON_CONFLICT("S8: a conflict records no name") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Outcome<@Nullable String> judge(Request request, Map<IdempotencyKey, Row> found) {
                    Outcome<@Nullable String> answer = super.judge(request, found);
                    if (answer instanceof Outcome.Conflict) {
                        recordNewNames(memory, request, found);
                    }
                    return answer;
                }
            };
        }
    },
    IGNORES_FINGERPRINTS("K-3: the same key with another fingerprint is a mismatch, and") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                Outcome<@Nullable String> judge(Request request, Map<IdempotencyKey, Row> found) {
                    Request bare = Request.of(request.keys().get(0));
                    for (IdempotencyKey key :
                            request.keys().subList(1, request.keys().size())) {
                        bare = bare.and(key);
                    }
                    return super.judge(bare, found);
                }
            };
        }
    },
    FOLDS_CASE("J-6, S7: case, accents, emoji and blanks count in an ID") {
        @Override
        public ReferenceStore over(Memory memory) {
            return storing(
                    memory,
                    key -> new IdempotencyKey(
                            key.namespace(), key.scope(), key.id().toLowerCase(Locale.ROOT)));
        }
    },
    PADS_WITH_BLANKS("J-6, S7: case, accents, emoji and blanks count in a scope") {
        @Override
        public ReferenceStore over(Memory memory) {
            return storing(
                    memory,
                    key -> new IdempotencyKey(
                            key.namespace(),
                            key.scope().stripTrailing(),
                            key.id().stripTrailing()));
        }
    },
    JOINS_PARTS_WITH_A_COLON("R-9, S7: no separator makes two keys one") {
        @Override
        public ReferenceStore over(Memory memory) {
            return storing(memory, key -> {
                String joined = key.scope() + ':' + key.id();
                return joined.length() > 80 ? key : new IdempotencyKey(key.namespace(), "joined", joined);
            });
        }
    },
    CUTS_LONG_IDS("J-5, S7: parts of full length are never cut") {
        @Override
        public ReferenceStore over(Memory memory) {
            return storing(
                    memory,
                    key -> new IdempotencyKey(
                            key.namespace(),
                            key.scope(),
                            key.id().substring(0, Math.min(80, key.id().length()))));
        }
    },
    IGNORES_THE_NAMESPACE("K-5: the same ID from two senders, and for two operations") {
        @Override
        public ReferenceStore over(Memory memory) {
            return storing(memory, key -> new IdempotencyKey("all", key.scope(), key.id()));
        }
    },
    TAKES_NULL_FOR_ABSENT("K-1, S12: null, empty and false-looking responses") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                boolean isLive(Row row) {
                    return Objects.nonNull(row.original().response()) && super.isLive(row);
                }
            };
        }
    },
    CUTS_LARGE_RESPONSES("K-2, S12: a response of 70,000 characters") {
        @Override
        public ReferenceStore over(Memory memory) {
            return new ReferenceStore(memory) {
                @Override
                String kept(String response) {
                    return Objects.nonNull(response) && response.length() > 65_535
                            ? response.substring(0, 65_535)
                            : response;
                }
            };
        }
    };

    private final String test;

    AnswerFault(String test) {
        this.test = test;
    }

    @Override
    public String test() {
        return test;
    }

    private interface Storing {
        IdempotencyKey as(IdempotencyKey key);
    }

    private static ReferenceStore storing(Memory memory, Storing storing) {
        return new ReferenceStore(memory) {
            @Override
            IdempotencyKey stored(IdempotencyKey key) {
                return storing.as(key);
            }
        };
    }

    private static void recordNewNames(Memory memory, Request request, Map<IdempotencyKey, Row> found) {
        Row row = found.values().iterator().next();
        Transaction transaction = memory.begin();
        transaction.write(
                request.keys().stream().filter(key -> !found.containsKey(key)).toList(), row);
        transaction.commit();
    }
}
