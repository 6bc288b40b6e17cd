package dev.idempotency.examples.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What each mode must show, whatever the seed, the losses, the rate and the number of servers. */
class ModesTest {

    private static final List<Mode> LIBRARY =
            List.of(Mode.WINDOW_ONLY, Mode.UNIQUE_KEY_ONLY, Mode.WINDOW_AND_UNIQUE_KEY, Mode.TWO_LAYERS);
    private static final List<Mode> UNIQUE_KEY = List.of(Mode.UNIQUE_KEY_ONLY, Mode.WINDOW_AND_UNIQUE_KEY);

    static List<Settings> settings() {
        List<Settings> all = new ArrayList<>();
        long seed = 1;
        for (double loss : new double[] {0, 0.1, 0.5}) {
            for (double rate : new double[] {139, 13_900}) {
                for (int servers : new int[] {1, 4}) {
                    for (boolean late : new boolean[] {false, true}) {
                        all.add(new Settings(1_000, 20, rate, loss, late ? 0.05 : 0, late ? 0.05 : 0, servers, seed++));
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("settings")
    void eachMode_anySettings_showsWhatItMust(Settings settings) {
        Network network = new Network(settings);
        long arrived = 0;
        while (network.hasNext()) {
            arrived += network.next().arrived() ? 1 : 0;
        }
        long copies = arrived;
        long messages = network.messagesArrived();
        Map<Mode, Tally> tallies = run(settings);
        long meanings = of(tallies, Mode.NO_DEDUP).meanings();
        long retries = messages - meanings;

        assertThat(tallies.values()).allSatisfy(tally -> {
            assertThat(tally.copies()).isEqualTo(copies);
            assertThat(tally.rows() + tally.caughtInWindow() + tally.caughtByKey())
                    .isEqualTo(copies);
            assertThat(tally.rows() - tally.repeats() + tally.swallowed()).isEqualTo(meanings);
        });
        assertThat(of(tallies, Mode.NO_DEDUP).rows()).isEqualTo(copies);
        assertThat(of(tallies, Mode.SENDER_AND_TEXT).swallowed()).isPositive();
        assertThat(of(tallies, Mode.HIGHEST_NUMBER).swallowed()).isPositive();

        checkStatements(tallies);

        LIBRARY.forEach(mode -> assertThat(of(tallies, mode).swallowed()).isZero());
        UNIQUE_KEY.forEach(mode -> {
            assertThat(of(tallies, mode).rows()).isEqualTo(messages);
            assertThat(of(tallies, mode).repeats()).isEqualTo(retries);
        });
        assertThat(of(tallies, Mode.TWO_LAYERS).rows()).isEqualTo(meanings);
        assertThat(of(tallies, Mode.TWO_LAYERS).repeats()).isZero();

        long windowOnlyRows = messages + network.arrivedAgainLate();
        if (settings.servers() == 1) {
            assertThat(of(tallies, Mode.WINDOW_ONLY).rows()).isEqualTo(windowOnlyRows);
        } else {
            assertThat(of(tallies, Mode.WINDOW_ONLY).rows()).isBetween(windowOnlyRows, copies);
        }
        if (settings.retried() > 0) {
            assertThat(retries).isPositive();
            assertThat(network.arrivedAgainLate()).isPositive();
            tallies.values().forEach(tally -> {
                if (tally.mode() != Mode.TWO_LAYERS) {
                    assertThat(tally.repeats()).isPositive();
                }
            });
        }
    }

    @Test
    void windowOnly_fourServers_showsRepeats() {
        Settings settings = new Settings(1_000, 100, 139, 0.1, 0, 0, 4, 1);
        assertThat(new Run(settings, Mode.WINDOW_ONLY)
                        .watchedBy((copy, sight) -> {})
                        .repeats())
                .isPositive();
    }

    /** An insert each; a repeat in the window none; a late one the failed insert and one read. */
    private static void checkStatements(Map<Mode, Tally> tallies) {
        tallies.forEach((mode, tally) -> {
            if (mode == Mode.TWO_LAYERS) {
                // Notices have two keys to read by.
                assertThat(tally.statements())
                        .isBetween(tally.rows() + 2 * tally.caughtByKey(), tally.rows() + 3 * tally.caughtByKey());
            } else {
                assertThat(tally.statements()).isEqualTo(tally.rows() + 2 * tally.caughtByKey());
            }
        });
        assertThat(of(tallies, Mode.UNIQUE_KEY_ONLY).caughtInWindow()).isZero();
        assertThat(of(tallies, Mode.WINDOW_ONLY).caughtByKey()).isZero();
    }

    private static Tally of(Map<Mode, Tally> tallies, Mode mode) {
        return Objects.requireNonNull(tallies.get(mode), "every mode was run");
    }

    private static Map<Mode, Tally> run(Settings settings) {
        Map<Mode, Tally> tallies = new EnumMap<>(Mode.class);
        for (Mode mode : Mode.values()) {
            tallies.put(mode, new Run(settings, mode).watchedBy((copy, sight) -> {}));
        }
        return tallies;
    }
}
