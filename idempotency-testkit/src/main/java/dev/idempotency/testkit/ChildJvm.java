package dev.idempotency.testkit;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A program that runs in a JVM of its own, with the class path that it has in this one: another server, or one that can be
 * killed.
 *
 * <ol>
 *   <li>The program's {@code main} gets ready and calls {@link #awaitGo()}.
 *   <li>The parent calls {@link #go()} when all of its children are ready, so that starting up spoils no race.
 *   <li>What the child then prints to its standard output, the parent reads as {@link #lines()}.
 *   <li>The child ends by itself, or is {@linkplain #kill() killed}. It also ends itself if its parent dies before {@code
 *       go}.
 * </ol>
 *
 * <p>Whatever is waited for is waited for until the time that was given at the start is over; then the child is killed
 * and an {@link AssertionError} tells what it printed. Safe for use by several threads.
 */
public final class ChildJvm implements AutoCloseable {

    private static final String READY = "[ready]";
    private static final String GO = "[go]";

    private final Process process;
    private final long deadline;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final CountDownLatch ready = new CountDownLatch(1);
    private final List<Thread> readers;

    private ChildJvm(Process process, Duration atMost) {
        this.process = process;
        this.deadline = System.nanoTime() + atMost.toNanos();
        this.readers = List.of(
                reader("out", process.getInputStream(), line -> {
                    if (line.equals(READY)) {
                        ready.countDown();
                    } else {
                        lines.add(line);
                    }
                }),
                reader("err", process.getErrorStream(), errors::add));
    }

    /**
     * Starts a program.
     *
     * @param program a class with a {@code main} that calls {@link #awaitGo()}
     * @param atMost for how long it may run in all
     * @param arguments what {@code main} is given
     * @return the child, which gets ready meanwhile
     */
    public static ChildJvm start(Class<?> program, Duration atMost, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"));
        command.addAll(List.of("-cp", classPath(program), program.getName()));
        command.addAll(List.of(arguments));
        try {
            return new ChildJvm(new ProcessBuilder(command).start(), atMost);
        } catch (IOException e) {
            throw new UncheckedIOException("could not start " + program.getName(), e);
        }
    }

    /**
     * Runs a program several times at once: starts the children, lets them go together when all are ready, and waits for
     * them to end with exit code 0.
     *
     * @param program a class with a {@code main} that calls {@link #awaitGo()}
     * @param atMost for how long all of it may take
     * @param arguments for each child what its {@code main} is given
     * @return for each child the lines that it printed
     * @throws InterruptedException if this thread is interrupted; the children are killed
     */
    public static List<List<String>> race(Class<?> program, Duration atMost, List<List<String>> arguments)
            throws InterruptedException {
        List<ChildJvm> children = new ArrayList<>();
        try {
            for (List<String> each : arguments) {
                children.add(start(program, atMost, each.toArray(String[]::new)));
            }
            for (ChildJvm child : children) {
                child.awaitReady();
            }
            children.forEach(ChildJvm::go);
            List<List<String>> lines = new ArrayList<>();
            for (ChildJvm child : children) {
                lines.add(child.finish());
            }
            return lines;
        } finally {
            children.forEach(ChildJvm::close);
        }
    }

    /**
     * For the child: says that it is ready, and waits for its parent. To be called once, from {@code main}, before
     * anything else reads the standard input.
     *
     * @throws IllegalStateException if the parent is gone
     */
    public static void awaitGo() {
        System.out.println(READY);
        System.out.flush();
        try {
            String signal = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
            if (!GO.equals(signal)) {
                throw new IllegalStateException("the parent is gone");
            }
        } catch (IOException e) {
            throw new IllegalStateException("the parent is gone", e);
        }
    }

    /**
     * Waits until the child has called {@link #awaitGo()}.
     *
     * @throws InterruptedException if this thread is interrupted
     */
    public void awaitReady() throws InterruptedException {
        while (!ready.await(20, TimeUnit.MILLISECONDS)) {
            if (!process.isAlive() && !ready.await(1, TimeUnit.SECONDS)) {
                throw failed("ended with exit code " + process.exitValue() + " before it was ready");
            }
            if (remaining() <= 0) {
                throw failed("was not ready in time");
            }
        }
    }

    /** Lets the child go on from {@link #awaitGo()}. */
    public void go() {
        try {
            process.getOutputStream().write((GO + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw failed("does not hear: " + e.getMessage());
        }
    }

    /**
     * What the child has printed so far, without the signs that it gives to its parent. A line counts once it is complete;
     * that of a child which was killed may be cut.
     *
     * @return a snapshot
     */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    /**
     * Whether the child still runs.
     *
     * @return false once it has ended or was killed
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Waits for the child to end by itself.
     *
     * @return all that it printed
     * @throws InterruptedException if this thread is interrupted
     */
    public List<String> finish() throws InterruptedException {
        if (!process.waitFor(remaining(), TimeUnit.NANOSECONDS)) {
            throw failed("did not end in time");
        }
        awaitReaders();
        if (process.exitValue() != 0) {
            throw failed("ended with exit code " + process.exitValue());
        }
        return lines();
    }

    /**
     * Kills the child at once, as the loss of its machine would: nothing of it runs on, no shutdown hook and no finally.
     *
     * @return all that it had printed until then
     * @throws InterruptedException if this thread is interrupted
     */
    public List<String> kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(Math.max(remaining(), TimeUnit.SECONDS.toNanos(10)), TimeUnit.NANOSECONDS)) {
            throw failed("cannot be killed");
        }
        awaitReaders();
        return lines();
    }

    /** Kills the child if it still runs. */
    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void awaitReaders() throws InterruptedException {
        for (Thread reader : readers) {
            reader.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(remaining())));
        }
    }

    private long remaining() {
        return deadline - System.nanoTime();
    }

    private AssertionError failed(String how) {
        process.destroyForcibly();
        return new AssertionError("child " + process.pid() + " " + how + "; it printed " + last(lines)
                + " and, as errors, " + last(errors));
    }

    private static String last(List<String> printed) {
        return String.join("\n  ", printed.subList(Math.max(0, printed.size() - 30), printed.size()));
    }

    /** A program that a build tool runs in its own JVM has a class loader of its own; the tool's class path is no use to it. */
    private static String classPath(Class<?> program) {
        List<String> entries = new ArrayList<>();
        if (program.getClassLoader() instanceof URLClassLoader loader) {
            for (URL url : loader.getURLs()) {
                if (url.getProtocol().equals("file")) {
                    entries.add(Path.of(URI.create(url.toString())).toString());
                }
            }
        } else {
            for (String property : List.of("java.class.path", "jdk.module.path")) {
                String path = System.getProperty(property, "");
                if (!path.isEmpty()) {
                    entries.add(path);
                }
            }
        }
        return String.join(File.pathSeparator, entries);
    }

    private interface Line {
        void read(String line);
    }

    private static Thread reader(String name, InputStream stream, Line line) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader reader =
                            new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                        for (String next = reader.readLine(); next != null; next = reader.readLine()) {
                            line.read(next);
                        }
                    } catch (IOException e) {
                        line.read("[the rest could not be read: " + e.getMessage() + "]");
                    }
                },
                "child-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
