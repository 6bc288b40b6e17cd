package dev.idempotency.examples.runs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/** What the senders were told, and what was done to the applications and the server meanwhile. */
final class KillsLedger {

    private final Map<Long, String> acknowledged = new ConcurrentHashMap<>();
    private final Map<Long, String> executed = new ConcurrentHashMap<>();
    private final Counts counts = new Counts();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicInteger appKills = new AtomicInteger();
    private final AtomicInteger serverLosses = new AtomicInteger();
    private final AtomicLong downMillis = new AtomicLong();
    private final LongAccumulator longestRestart = new LongAccumulator(Math::max, 0);
    private final LongAccumulator longestInProgress = new LongAccumulator(Math::max, 0);

    /** An application or a server is about to be lost. */
    void lossBegins() {
        losses.incrementAndGet();
    }

    int losses() {
        return losses.get();
    }

    /** At least so many; those of an application that died before it could tell are not known. */
    void takeovers(long number) {
        counts.add("takeovers", number);
    }

    void appKilled() {
        appKills.incrementAndGet();
    }

    int appKills() {
        return appKills.get();
    }

    void serverLost(long millisDown) {
        serverLosses.incrementAndGet();
        downMillis.addAndGet(millisDown);
        longestRestart.accumulate(millisDown);
    }

    int serverLosses() {
        return serverLosses.get();
    }

    long downMillis() {
        return downMillis.get();
    }

    long longestRestart() {
        return longestRestart.get();
    }

    /** A key whose sender was refused was acknowledged so much later. */
    void inProgressFor(long millis) {
        longestInProgress.accumulate(millis);
    }

    long longestInProgress() {
        return longestInProgress.get();
    }

    /** A sender has its answer; it must be what all senders of that key are told. */
    void acknowledge(long number, String response, boolean execution) {
        if (execution) {
            String before = executed.putIfAbsent(number, response);
            if (before != null && !before.equals(response)) {
                counts.add("acknowledged as executed again");
            }
        }
        String earlier = acknowledged.putIfAbsent(number, response);
        counts.add(earlier == null ? "acknowledged first" : "acknowledged again");
        if (earlier != null && !earlier.equals(response)) {
            counts.add("second reply");
        }
    }

    /** What those were told whose call was the one that executed. */
    Map<Long, String> executed() {
        return executed;
    }

    Map<Long, String> acknowledged() {
        return acknowledged;
    }

    Counts counts() {
        return counts;
    }
}
