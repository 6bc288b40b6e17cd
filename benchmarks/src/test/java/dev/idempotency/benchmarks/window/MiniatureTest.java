package dev.idempotency.benchmarks.window;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.window.WindowMemory.Subject;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Each program in miniature, so that none of them rots. What they measure here means nothing. */
class MiniatureTest {

    @Test
    void speed_runsEveryOperationOnEveryWindow() throws Exception {
        var results = new Runner(new OptionsBuilder()
                        .include(WindowBenchmark.class.getName())
                        .forks(0)
                        .threads(2)
                        .warmupIterations(0)
                        .measurementIterations(1)
                        .measurementTime(TimeValue.milliseconds(10))
                        .param("rate", "139")
                        .param("seconds", "32")
                        .shouldFailOnError(true)
                        .build())
                .run();

        assertThat(results).hasSize(6 * Kind.values().length);
    }

    @Test
    void memory_countsEverySubject() throws Exception {
        for (Subject subject : Subject.values()) {
            assertThat(WindowMemory.measured(subject, new Load(139, 32), false)).startsWith(subject + ",4448,");
        }
    }

    @Test
    void pauses_turnEveryWindowOver() throws Exception {
        for (Kind kind : Kind.values()) {
            assertThat(WindowPauses.turned(kind, new Load(139, 32))).startsWith(kind + ",");
        }
    }
}
