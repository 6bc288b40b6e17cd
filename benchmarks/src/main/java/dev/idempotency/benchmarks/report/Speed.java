package dev.idempotency.benchmarks.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What JMH has measured of one operation on a window.
 *
 * @param kind the window; empty where none takes part
 * @param ids how many it holds
 * @param nanos an operation took, in each iteration
 * @param bytes that an operation allocates
 */
record Speed(String operation, String kind, int ids, int threads, List<Double> nanos, double bytes) {

    /** What a file of JMH's tells; nothing if there is no such file. */
    static List<Speed> all(Path file) throws IOException {
        List<Speed> speeds = new ArrayList<>();
        if (Files.exists(file)) {
            try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
                for (JsonElement element : JsonParser.parseReader(reader).getAsJsonArray()) {
                    speeds.add(speed(element.getAsJsonObject()));
                }
            }
        }
        return speeds;
    }

    private static Speed speed(JsonObject result) {
        String benchmark = result.get("benchmark").getAsString();
        JsonObject params = result.has("params") ? result.getAsJsonObject("params") : new JsonObject();
        List<Double> nanos = new ArrayList<>();
        for (JsonElement fork : result.getAsJsonObject("primaryMetric").getAsJsonArray("rawData")) {
            fork.getAsJsonArray().forEach(score -> nanos.add(score.getAsDouble()));
        }
        double bytes = Double.NaN;
        JsonObject more = result.getAsJsonObject("secondaryMetrics");
        for (String name : more.keySet()) {
            if (name.endsWith("gc.alloc.rate.norm")) {
                bytes = more.getAsJsonObject(name).get("score").getAsDouble();
            }
        }
        return new Speed(
                benchmark.substring(benchmark.lastIndexOf('.') + 1),
                params.has("kind") ? params.get("kind").getAsString() : "",
                params.has("rate")
                        ? params.get("rate").getAsInt() * params.get("seconds").getAsInt()
                        : 0,
                result.get("threads").getAsInt(),
                nanos,
                bytes);
    }

    Spread spread() {
        return Spread.of(nanos);
    }
}
