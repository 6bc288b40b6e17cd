package dev.idempotency.benchmarks.window;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.idempotency.benchmarks.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs {@link WindowBenchmark} with 1 and 2 threads and counts allocation; writes {@code window-speed-1.json} and
 * {@code window-speed-2.json}, as JMH has them but for the paths of this machine.
 *
 * <p>{@code mvn -q -B compile exec:exec -pl benchmarks -am
 * -Dbenchmark=window.WindowSpeed}; {@code -Darguments="hit COMPACT,CAFFEINE 13900 300"}
 * for one operation, some windows, one rate and one duration.
 */
public final class WindowSpeed {

    private WindowSpeed() {}

    /**
     * Runs it.
     *
     * @param arguments a regular expression for operations; kinds; rates; seconds; seconds of an iteration; each may be left
     *     out from the right
     * @throws RunnerException if JMH can't run it
     * @throws IOException if results can't be written
     */
    public static void main(String[] arguments) throws RunnerException, IOException {
        Path results = Results.folder();
        String[] parameters = {"kind", "rate", "seconds"};
        for (int threads = 1; threads <= 2; threads++) {
            Path file = results.resolve("window-speed-" + threads + ".json");
            ChainedOptionsBuilder options = new OptionsBuilder()
                    .include(WindowBenchmark.class.getName() + "\\."
                            + (arguments.length == 0 ? "" : "(" + arguments[0] + ")$"))
                    .threads(threads)
                    .addProfiler(GCProfiler.class)
                    .resultFormat(ResultFormatType.JSON)
                    .result(file.toString());
            for (int i = 1; i < Math.min(arguments.length, 4); i++) {
                options.param(parameters[i - 1], arguments[i].split(",", -1));
            }
            if (arguments.length > 4) {
                TimeValue time = TimeValue.milliseconds((long) (Double.parseDouble(arguments[4]) * 1000));
                options.warmupTime(time).measurementTime(time);
            }
            new Runner(options.build()).run();
            dropPaths(file);
        }
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
