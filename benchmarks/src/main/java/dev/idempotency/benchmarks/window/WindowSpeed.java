package dev.idempotency.benchmarks.window;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.idempotency.benchmarks.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs {@link WindowBenchmark} with 1 and 2 threads, in rounds, and counts allocation; writes {@code window-speed-1.json} and
 * {@code window-speed-2.json}, as JMH has them but for the paths of this machine.
 *
 * <p>{@code mvn -q -B compile exec:exec -pl benchmarks -am
 * -Dbenchmark=window.WindowSpeed}; {@code -Darguments="hit COMPACT,CAFFEINE 13900 300"}
 * for one operation, some windows, one rate and one duration.
 */
public final class WindowSpeed {

    private static final String KEY = "key";

    private WindowSpeed() {}

    /**
     * Runs it.
     *
     * @param arguments a regular expression for operations; kinds; rates; seconds; seconds of an iteration; rounds; each may be
     *     left out from the right
     * @throws RunnerException if JMH can't run it
     * @throws IOException if results can't be written
     */
    public static void main(String[] arguments) throws RunnerException, IOException {
        Path results = Results.folder();
        String operations = argument(arguments, 0, ".*");
        String[] kinds = argument(arguments, 1, "COMPACT,CAFFEINE,MAP").split(",", -1);
        String[] rates = argument(arguments, 2, "139,13900").split(",", -1);
        String[] seconds = argument(arguments, 3, "32,300").split(",", -1);
        TimeValue time = TimeValue.milliseconds((long) (Double.parseDouble(argument(arguments, 4, "2")) * 1000));
        int rounds = Integer.parseInt(argument(arguments, 5, "1"));
        for (int threads = 1; threads <= 2; threads++) {
            List<RunResult> measured = new ArrayList<>();
            for (int round = 1; round <= rounds; round++) {
                // One size after the other, so that JMH runs the windows that are compared next to each other.
                for (String rate : rates) {
                    for (String lasting : seconds) {
                        System.out.printf(
                                "-- %d threads, round %d of %d, %s a second for %s s%n",
                                threads, round, rounds, rate, lasting);
                        ChainedOptionsBuilder options = new OptionsBuilder()
                                .include(WindowBenchmark.class.getName() + "\\.(" + operations + ")$")
                                .threads(threads)
                                .param("kind", kinds)
                                .param("rate", rate)
                                .param("seconds", lasting)
                                .warmupTime(time)
                                .measurementTime(time)
                                .addProfiler(GCProfiler.class);
                        if (!operations.equals(KEY) && !(rate.equals(rates[0]) && lasting.equals(seconds[0]))) {
                            // The size is nothing to it.
                            options.exclude(WindowBenchmark.class.getName() + "\\." + KEY + "$");
                        }
                        measured.addAll(new Runner(options.build()).run());
                    }
                }
            }
            Path file = results.resolve("window-speed-" + threads + ".json");
            ResultFormatFactory.getInstance(ResultFormatType.JSON, file.toString())
                    .writeOut(measured);
            dropPaths(file);
        }
    }

    private static String argument(String[] arguments, int index, String otherwise) {
        return index < arguments.length ? arguments[index] : otherwise;
    }

    /** The JVM's own path, and its arguments, in which there are others. */
    static void dropPaths(Path file) throws IOException {
        JsonArray results = JsonParser.parseString(Files.readString(file)).getAsJsonArray();
        for (JsonElement result : results) {
            result.getAsJsonObject().remove("jvm");
            result.getAsJsonObject().remove("jvmArgs");
        }
        Files.writeString(file, new GsonBuilder().setPrettyPrinting().create().toJson(results) + "\n");
    }
}
