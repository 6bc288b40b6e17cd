package dev.idempotency.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Where results go: CSV files with a line of names first, to be read by programs. The last column of a file may hold commas,
 * the others hold none.
 */
public final class Results {

    /** The system property that names another folder than {@code benchmarks/results} in the working directory. */
    public static final String FOLDER = "idempotency.benchmarks.results";

    /** Names and values that say what was measured: versions of servers, the machine. */
    public static final String NOTES = "notes.csv";

    private Results() {}

    /**
     * The folder, which is made if it is not there.
     *
     * @return the folder
     * @throws IOException if it can't be made
     */
    public static Path folder() throws IOException {
        return Files.createDirectories(Path.of(System.getProperty(FOLDER, "benchmarks/results")));
    }

    /**
     * Adds a line to a file, and prints it.
     *
     * @param file the file's name
     * @param header the names, written first if the file is new
     * @param line the values
     * @throws IOException if it can't be written
     */
    public static void add(String file, String header, String line) throws IOException {
        Path path = folder().resolve(file);
        String text = Files.exists(path) ? line + "\n" : header + "\n" + line + "\n";
        Files.writeString(path, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        System.out.println(line);
    }

    /**
     * Notes a fact for the report. A later note of the same name counts.
     *
     * @param name what it is about
     * @param value the fact
     * @throws IOException if it can't be written
     */
    public static void note(String name, String value) throws IOException {
        add(NOTES, "name,value", name.replace(',', ' ') + "," + value.replaceAll("\\R", " "));
    }

    /**
     * Writes a file, instead of one that is there.
     *
     * @param file the file's name
     * @param lines the names, and then the values
     * @throws IOException if it can't be written
     */
    public static void write(String file, List<String> lines) throws IOException {
        Path path = folder().resolve(file);
        Files.write(path, lines, StandardCharsets.UTF_8);
        System.out.println("written to " + path);
    }
}
