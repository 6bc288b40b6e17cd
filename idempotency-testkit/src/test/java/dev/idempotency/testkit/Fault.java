package dev.idempotency.testkit;

import java.util.Arrays;
import java.util.stream.Stream;

/** One way in which a store can be wrong. */
interface Fault {

    static Stream<Fault> all() {
        return Stream.concat(Arrays.stream(AnswerFault.values()), Arrays.stream(CommitFault.values()));
    }

    String name();

    /** How the name of a test of the contract begins that must fail. */
    String test();

    /** A server that is wrong in this way. */
    ReferenceStore over(Memory memory);
}
