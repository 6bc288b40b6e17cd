package dev.idempotency.benchmarks.report;

import java.util.Arrays;
import java.util.Collection;

/** The least, the middle and the greatest of some values; NaN if there are none. */
record Spread(double least, double median, double greatest) {

    static Spread of(Collection<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        if (sorted.length == 0) {
            return new Spread(Double.NaN, Double.NaN, Double.NaN);
        }
        double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
        return new Spread(sorted[0], median, Arrays.stream(sorted).max().orElse(Double.NaN));
    }

    boolean isThere() {
        return !Double.isNaN(median);
    }

    String text(int decimals) {
        return Document.number(least, decimals) + " – **" + Document.number(median, decimals) + "** – "
                + Document.number(greatest, decimals);
    }
}
