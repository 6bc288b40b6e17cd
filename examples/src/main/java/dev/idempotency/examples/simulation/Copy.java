package dev.idempotency.examples.simulation;

/**
 * One sending of a message.
 *
 * @param message which
 * @param attempt counts from 0: the tries at 0, 1, 3, 7 and 15 s
 * @param afterRestart sent from the outbox an hour later
 * @param at virtual time at which it arrived, or was sent if it is lost, in nanoseconds
 * @param arrived false if it was lost on its way to Ben
 * @param acknowledged false if its acknowledgement was lost on the way back
 * @param server which server it arrived at, counted from 0
 */
record Copy(
        Message message,
        int attempt,
        boolean afterRestart,
        long at,
        boolean arrived,
        boolean acknowledged,
        int server) {}
