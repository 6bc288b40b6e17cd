package dev.idempotency.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** What the servers share: a folder that is deleted, a free port, and processes that are killed. */
final class ServerFolder {

    private static final int PATIENCE_SECONDS = 60;

    private ServerFolder() {}

    static Path create(String name) throws IOException {
        return Files.createTempDirectory("idempotency-" + name + "-");
    }

    /** Free a moment ago: somebody else may be quicker, which is rare, and shows as a server that does not start. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Kills a process and all that it has started, and waits for their end. */
    static void kill(ProcessHandle server) {
        List<ProcessHandle> all =
                Stream.concat(Stream.of(server), server.descendants()).toList();
        // The parent goes first, so that it can't react to what becomes of its children.
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(ServerFolder::awaitEnd);
    }

    /** The process of this number, if it still runs. */
    static Optional<ProcessHandle> running(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    }

    static void awaitEnd(ProcessHandle process) {
        try {
            process.onExit().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IllegalStateException("the server's process " + process.pid() + " does not end", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for a server to end", e);
        }
    }

    static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the server's folder could not be deleted", e);
        }
    }
}
