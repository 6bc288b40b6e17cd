package dev.idempotency.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TrafficTest {

    private static final Duration WINDOW = Duration.ofSeconds(5);

    private final Traffic traffic = new Traffic(1_000, Duration.ofSeconds(20), Duration.ofSeconds(70), WINDOW, 0.1);

    @Test
    void messages_comeAtEvenDistances_andNoneAfterTheEnd() {
        assertThat(traffic.total()).isEqualTo(90_000);
        assertThat(traffic.due(0)).isZero();
        assertThat(traffic.due(1_500)).isEqualTo(1_500_000_000L);
        assertThat(traffic.dueBy(1_500_000_000L)).isEqualTo(1_501);
        assertThat(traffic.dueBy(1_499_999_999L)).isEqualTo(1_500);
        assertThat(traffic.counts(19_999)).isFalse();
        assertThat(traffic.counts(20_000)).isTrue();
    }

    @Test
    void repeats_areOneOfNine_ofFirstOnes_andATenthOfThemLate() {
        List<Long> repeats = LongStream.range(20_000, traffic.total())
                .filter(number -> traffic.original(number) != number)
                .boxed()
                .toList();
        assertThat(repeats).hasSize(70_000 / 9);
        assertThat(repeats).allSatisfy(number -> {
            long original = traffic.original(number);
            assertThat(original).isLessThan(number);
            assertThat(traffic.original(original)).isEqualTo(original);
            assertThat(traffic.message(number)).isEqualTo(traffic.message(original));
        });

        List<Duration> distances = repeats.stream()
                .map(number -> Duration.ofNanos(traffic.due(number) - traffic.due(traffic.original(number))))
                .toList();
        List<Duration> late = distances.stream()
                .filter(distance -> distance.compareTo(WINDOW) > 0)
                .toList();
        assertThat(late.size() / (double) distances.size()).isBetween(0.08, 0.12);
        assertThat(late)
                .allSatisfy(
                        distance -> assertThat(distance).isBetween(Duration.ofMillis(5_990), Duration.ofSeconds(20)));
        assertThat(distances)
                .filteredOn(distance -> !late.contains(distance))
                .allSatisfy(distance -> assertThat(distance).isBetween(Duration.ofMillis(490), Duration.ofSeconds(3)));
    }

    @Test
    void ids_areUnique_andTimeOrderedOnesGrow() {
        for (Ids ids : Ids.values()) {
            assertThat(LongStream.range(0, 50_000).mapToObj(ids::id).distinct()).hasSize(50_000);
        }
        assertThat(Ids.RANDOM.id(7).version()).isEqualTo(4);
        assertThat(Ids.TIME_ORDERED.id(7).version()).isEqualTo(7);
        assertThat(Ids.TIME_ORDERED.id(7).variant()).isEqualTo(2);
        // By the millisecond, as texts compare.
        assertThat(LongStream.range(0, 1_000)
                        .mapToObj(number -> Ids.TIME_ORDERED.id(number * 14).toString()))
                .isSorted();
    }
}
