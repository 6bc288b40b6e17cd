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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What JMH has measured of one operation on a window.
 *
 * @param kind the window; empty where none takes part
 * @param ids how many it holds
 * @param rounds the nanoseconds that an operation took, in each iteration of each round
 * @param bytes that an operation allocates
 */
record Speed(String operation, String kind, int ids, int threads, List<List<Double>> rounds, double bytes) {

    /** What a file of JMH's tells, one for each case; nothing if there is no such file. */
    static List<Speed> all(Path file) throws IOException {
        Map<List<Object>, Speed> speeds = new LinkedHashMap<>();
        if (Files.exists(file)) {
            try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
                for (JsonElement element : JsonParser.parseReader(reader).getAsJsonArray()) {
                    Speed speed = speed(element.getAsJsonObject());
                    speeds.merge(
                            List.of(speed.operation, speed.kind, speed.ids, speed.threads), speed, Speed::withRoundsOf);
                }
            }
        }
        return List.copyOf(speeds.values());
    }

    private Speed withRoundsOf(Speed later) {
        List<List<Double>> all = new ArrayList<>(rounds);
        all.addAll(later.rounds);
        return new Speed(operation, kind, ids, threads, all, Math.max(bytes, later.bytes));
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
                List.of(nanos),
                bytes);
    }

    Spread spread() {
        return Spread.of(rounds.stream().flatMap(List::stream).toList());
    }

    /** The ratio of the two times in each round. */
    Spread by(Speed other) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(rounds.size(), other.rounds.size()); i++) {
            ratios.add(Spread.of(rounds.get(i)).median()
                    / Spread.of(other.rounds.get(i)).median());
        }
        return Spread.of(ratios);
    }
}
