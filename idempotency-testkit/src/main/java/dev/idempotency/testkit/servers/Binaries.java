package dev.idempotency.testkit.servers;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The binaries of servers, as jars in one folder, which the system property {@value #FOLDER} names. On a class path two
 * versions of one server would hide one another, and whoever only compiles would have to fetch them.
 */
final class Binaries {

    static final String FOLDER = "idempotency.test.servers";

    private Binaries() {}

    static Path jar(String name) throws IOException {
        String folder = System.getProperty(FOLDER);
        if (folder == null) {
            throw new FileNotFoundException("the system property " + FOLDER + " does not say where " + name + " is");
        }
        Path jar = Path.of(folder, name).toAbsolutePath();
        if (!Files.isRegularFile(jar)) {
            throw new FileNotFoundException(
                    "there is no " + jar + "; the build puts it there before tests are compiled");
        }
        return jar;
    }

    static URL entry(Path jar, String name) throws IOException {
        return new URL("jar:" + jar.toUri() + "!/" + name);
    }
}
