package dev.idempotency.redis;

import dev.idempotency.testkit.LeaseModel;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases in Redis against a plain model. */
@DisplayName("S2, S4, S8, S10, S11: random operations against a plain model")
class RedisLeasesModelTest {

    private static final int STEPS = 1_500;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void operations_random_answerAsTheModelDoes(long seed) {
        KeptRecords redis = new KeptRecords(RedisServers.SINGLE.client());
        new LeaseModel(List.of(redis.leases(), redis.leases()), redis::pass).run(seed, STEPS);
    }
}
