package dev.idempotency.window;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The namespaces of a window's keys, each with a number that takes one byte in an entry. A service has a handful: the
 * first {@value #MOST} get a number, and those of later ones are written out.
 */
final class Namespaces {

    static final int MOST = 15;

    /** The number of a namespace that has none. */
    static final int NONE = 0;

    private final ReentrantLock lock = new ReentrantLock();

    /** Replaced and never changed. */
    private volatile String[] known = {};

    /** The number of a namespace, or {@link #NONE}. */
    int number(String namespace) {
        String[] all = known;
        for (int i = 0; i < all.length; i++) {
            if (all[i].equals(namespace)) {
                return i + 1;
            }
        }
        return NONE;
    }

    /** The number of a namespace, which gets one if there is one left. */
    int learn(String namespace) {
        int number = number(namespace);
        if (number != NONE || known.length == MOST) {
            return number;
        }
        lock.lock();
        try {
            number = number(namespace);
            if (number != NONE || known.length == MOST) {
                return number;
            }
            String[] more = Arrays.copyOf(known, known.length + 1);
            more[known.length] = namespace;
            known = more;
            return more.length;
        } finally {
            lock.unlock();
        }
    }
}
