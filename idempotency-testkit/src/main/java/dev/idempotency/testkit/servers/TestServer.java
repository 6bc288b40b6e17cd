package dev.idempotency.testkit.servers;

/**
 * A server on this machine, on a port of its own, with a data folder of its own that is deleted in the end. It can be lost in
 * several ways, and started again on the same data and the same port, so that its clients find it where it was.
 *
 * <p>A server ends with the JVM that has started it, unless that JVM is killed. Methods may be called by any thread, one at a
 * time.
 */
public interface TestServer extends AutoCloseable {

    /**
     * Where it listens.
     *
     * @return a port of this machine, the same one after a restart
     */
    int port();

    /**
     * Ends the server in good order. Nothing is done if it does not run.
     *
     * @throws IllegalStateException if it does not end
     */
    void stop();

    /**
     * Kills each process of the server, as a loss of power would: what it has not flushed by then is up to the operating
     * system, which lives on. Nothing is done if it does not run.
     *
     * @throws IllegalStateException if it does not end
     */
    void kill();

    /**
     * Starts the server again on the data that it has, once it is stopped or killed.
     *
     * @throws NotStarted if it does not start
     * @throws IllegalStateException if it runs
     */
    void restart();

    /** Ends the server and deletes its data. It can't be started again. */
    @Override
    void close();
}
