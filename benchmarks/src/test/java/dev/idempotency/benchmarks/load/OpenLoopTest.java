package dev.idempotency.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.ResultsFolder;
import dev.idempotency.benchmarks.load.Latencies.Answer;
import dev.idempotency.benchmarks.stores.Target;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OpenLoopTest {

    @RegisterExtension
    final ResultsFolder results = new ResultsFolder();

    @ParameterizedTest
    @EnumSource
    void tooMuch_isToldByLatency_fromTheTimeAtWhichMessagesWereToCome(Mode mode) throws Exception {
        // 100,000 messages in 10 ms: no machine stores them by then, and most of the time of each is waiting.
        Traffic traffic = new Traffic(10_000_000, Duration.ZERO, Duration.ofMillis(10), Duration.ofSeconds(1), 0.1);
        try (Target.Running database = Target.H2.start();
                Receiver receiver =
                        new Receiver(Target.H2, database, false, Receiver.Kind.CAFFEINE, Duration.ofSeconds(1))) {
            OpenLoop.Result result =
                    OpenLoop.run(receiver, traffic, mode, Duration.ofMillis(5), Duration.ofMillis(100));

            assertThat(result.failure()).isNull();
            assertThat(result.latencies().all().getTotalCount()).isEqualTo(100_000);
            assertThat(Latencies.millis(result.latencies().all(), 50)).isGreaterThan(10);
            // The last one to be answered was taken some 100 ms after all had come.
            assertThat(result.latencies().histogram(Answer.FIRST).getMaxValue()).isGreaterThan(50_000_000);
            assertThat(result.latencies().mostWaiting()).isPositive();
            assertThat(receiver.rows()).isEqualTo(result.latencies().executed());
        }
    }

    @Test
    void aBatch_closesWhenItsTimeIsOver() throws Exception {
        Traffic traffic = new Traffic(5, Duration.ZERO, Duration.ofMillis(400), Duration.ofSeconds(1), 0.1);
        try (Target.Running database = Target.H2.start();
                Receiver receiver =
                        new Receiver(Target.H2, database, false, Receiver.Kind.NONE, Duration.ofSeconds(1))) {
            OpenLoop.Result result =
                    OpenLoop.run(receiver, traffic, Mode.BATCH, Duration.ofMillis(50), Duration.ofMinutes(1));

            assertThat(result.left()).isZero();
            assertThat(result.latencies().all().getTotalCount()).isEqualTo(2);
            // The first has waited for more; HdrHistogram keeps three digits.
            assertThat(result.latencies().all().getMaxValue()).isGreaterThan(49_000_000);
        }
    }
}
