package dev.idempotency.examples.simulation;

/** One server that receives copies for Ben. */
@FunctionalInterface
interface Receiver {

    /** Stores the copy or recognises it as a repeat, at its virtual time. */
    Verdict receive(Copy copy);
}
