package dev.idempotency.benchmarks.stores;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.ResultsFolder;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.openjdk.jmh.annotations.Benchmark;

/** The program in miniature, so that it does not rot. What it measures here means nothing. */
class StoreMiniatureTest {

    @RegisterExtension
    final ResultsFolder results = new ResultsFolder();

    @Test
    void storeSpeed_runsEveryWay() throws Exception {
        StoreSpeed.main(new String[] {"H2", "2", "1", "0.02"});

        assertThat(Arrays.stream(StoreBenchmark.class.getDeclaredMethods())
                        .filter(method -> method.isAnnotationPresent(Benchmark.class))
                        .map(Method::getName))
                .containsExactlyInAnyOrderElementsOf(StoreSpeed.WAYS);
        assertThat(results.lines(StoreSpeed.FILE))
                .hasSize(1 + StoreSpeed.WAYS.size())
                .contains("database,threads,way,round,messages_per_second,bytes_per_message")
                .anyMatch(line -> line.startsWith("H2,2,ownTableBatch,1,"));
    }
}
