package dev.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyListener;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.store.LeaseOptions;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WarningsTest {

    @ParameterizedTest
    @EnumSource
    @DisplayName("S14: a database that waits for locks without a limit is warned of, once a front door is built")
    void noLockTimeout_isWarnedOf(TestDatabase database) {
        // The later one counts.
        DataSource unlimited = database.fresh("options=-c%20lock_timeout=0");
        boolean postgresql = database.name().startsWith("POSTGRESQL");

        for (IdempotencyStore<?, String> store : stores(unlimited)) {
            assertThat(warnings(store)).hasSize(postgresql ? 1 : 0).allMatch(w -> w.contains("lock_timeout"));
        }
        for (IdempotencyStore<?, String> store : stores(database.fresh())) {
            assertThat(warnings(store)).isEmpty();
        }
    }

    private static List<IdempotencyStore<?, String>> stores(DataSource dataSource) {
        return List.of(
                JdbcStores.yourTable(dataSource, Messages::find, YourTableOptions.defaults()),
                JdbcStores.transactional(dataSource, Codec.utf8()),
                JdbcStores.leased(dataSource, Codec.utf8(), LeaseOptions.defaults()));
    }

    private static List<String> warnings(IdempotencyStore<?, String> store) {
        List<String> heard = new ArrayList<>();
        Idempotency.with(store)
                .listener(new IdempotencyListener() {
                    @Override
                    public void warned(String warning) {
                        heard.add(warning);
                    }
                })
                .build();
        return heard;
    }
}
