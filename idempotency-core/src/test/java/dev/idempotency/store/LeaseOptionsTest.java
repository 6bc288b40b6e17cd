package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.Codec;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("S13: lease options")
class LeaseOptionsTest {

    static List<Duration> notALease() {
        return List.of(
                Duration.ZERO,
                Duration.ofNanos(-1),
                Duration.ofSeconds(-30),
                Duration.ofNanos(999_999),
                Duration.ofSeconds(Long.MAX_VALUE),
                Duration.ofSeconds(Long.MIN_VALUE),
                LeaseOptions.LONGEST.plusNanos(1));
    }

    @ParameterizedTest
    @MethodSource("notALease")
    @DisplayName("L-2")
    void lease_outOfBounds_isRefusedWhenConfigured(Duration duration) {
        assertThatThrownBy(() -> LeaseOptions.defaults().lease(duration))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lease")
                .hasMessageContaining(duration.toString());
    }

    @ParameterizedTest
    @MethodSource("notALease")
    void retention_outOfBounds_isRefusedWhenConfigured(Duration duration) {
        assertThatThrownBy(() -> LeaseOptions.defaults().retention(duration))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("retention");
    }

    @Test
    void waitAtMost_negativeOrOverflowing_isRefusedAndZeroIsNot() {
        LeaseOptions options = LeaseOptions.defaults();
        assertThatThrownBy(() -> options.waitAtMost(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.waitAtMost(Duration.ofSeconds(Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(options.waitAtMost(Duration.ZERO).waitAtMost()).isZero();
    }

    @Test
    void store_leaseLongerThanRetention_isRefused() {
        LeaseOptions options =
                LeaseOptions.defaults().lease(Duration.ofHours(2)).retention(Duration.ofHours(1));
        assertThatThrownBy(() -> CaffeineStore.leased(Codec.utf8(), options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT2H")
                .hasMessageContaining("PT1H");
    }

    @Test
    void store_leaseAsLongAsRetentionInEitherOrder_isMade() {
        Duration twoDays = Duration.ofDays(2);
        assertThatCode(() -> {
                    CaffeineStore.leased(
                            Codec.utf8(), LeaseOptions.defaults().lease(twoDays).retention(twoDays));
                    CaffeineStore.leased(
                            Codec.utf8(),
                            LeaseOptions.defaults().retention(twoDays).lease(twoDays));
                })
                .doesNotThrowAnyException();
    }

    @Test
    void store_longestDurations_work() {
        var store = CaffeineStore.leased(
                Codec.utf8(),
                LeaseOptions.defaults().lease(LeaseOptions.LONGEST).retention(LeaseOptions.LONGEST));
        store.execute(Bench.request("a"), lease -> "first", (names, original, remaining) -> {});
        assertThat(store.execute(Bench.request("a"), lease -> "second", (names, original, remaining) -> {})
                        .response())
                .isEqualTo("first");
        assertThat(store.retention()).isEqualTo(LeaseOptions.LONGEST);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void store_boundBelowOne_isRefused(long bound) {
        assertThatThrownBy(
                        () -> CaffeineStore.leased(Codec.utf8(), LeaseOptions.defaults(), bound, Ticker.systemTicker()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(bound));
    }

    @Test
    void withers_leaveTheOthersAsTheyWere() {
        LeaseOptions options = LeaseOptions.defaults()
                .lease(Duration.ofSeconds(1))
                .retention(Duration.ofSeconds(2))
                .waitAtMost(Duration.ofSeconds(3))
                .releaseIf((failure, started) -> true);
        assertThat(options.lease()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.retention()).isEqualTo(Duration.ofSeconds(2));
        assertThat(options.waitAtMost()).isEqualTo(Duration.ofSeconds(3));
        assertThat(options.releaseIf().test(new IllegalStateException(), true)).isTrue();
        assertThat(LeaseOptions.defaults().lease()).isEqualTo(Duration.ofSeconds(30));
    }
}
