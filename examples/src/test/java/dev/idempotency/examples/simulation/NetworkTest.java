package dev.idempotency.examples.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NetworkTest {

    private static final double SECOND = 1e9;

    @ParameterizedTest
    @CsvSource({"0.1, 1", "0.1, 2", "0.1, 3", "0.3, 1", "0.5, 1"})
    void copies_ofManyMessages_repeatAsOftenAsOnPaper(double loss, long seed) {
        Settings settings = new Settings(200_000, 100, 139, loss, 0, 0, 1, seed);
        Network network = new Network(settings);
        long copies = 0;
        while (network.hasNext()) {
            copies += network.next().arrived() ? 1 : 0;
        }

        double repeats = (double) copies / network.messagesArrived() - 1;
        assertThat(repeats).isCloseTo(onPaper(loss), within(0.005));
    }

    @Test
    void onPaper_tenPercentLostEachWay_isElevenPercent() {
        assertThat(onPaper(0.1)).isCloseTo(0.111, within(0.0005));
    }

    /** Each of 5 tries is the last one if the copy and its acknowledgement get through. */
    private static double onPaper(double loss) {
        double acknowledged = (1 - loss) * (1 - loss);
        double tries = (1 - Math.pow(1 - acknowledged, 5)) / acknowledged;
        double messages = 1 - Math.pow(loss, 5);
        return tries * (1 - loss) / messages - 1;
    }

    @Test
    void copies_sameSeed_areTheSame() {
        Settings settings = new Settings(500, 10, 139, 0.3, 0.1, 0.1, 4, 7);
        assertThat(described(settings)).isEqualTo(described(settings)).hasSizeGreaterThan(500);
    }

    @Test
    void copies_comeInTheOrderOfTime_andOvertake() {
        List<Copy> copies = all(new Settings(2_000, 1, 139, 0, 0, 0, 1, 1));
        assertThat(copies).extracting(Copy::at).isSorted();
        assertThat(copies)
                .hasSize(2_000)
                .extracting(copy -> copy.message().number)
                .isNotEqualTo(copies.stream()
                        .map(copy -> copy.message().number)
                        .sorted()
                        .toList());
    }

    @Test
    void message_neverAcknowledged_isTriedAtFixedTimesAndGivenUp() {
        Settings allLost = new Settings(1, 1, 1, 1, 0, 0, 1, 1);
        Network network = new Network(allLost);
        List<Double> tries = new ArrayList<>();
        while (network.hasNext()) {
            Copy copy = network.next();
            tries.add((copy.at() - copy.message().sentAt) / SECOND);
        }
        assertThat(tries).containsExactly(0.0, 1.0, 3.0, 7.0, 15.0);
        assertThat(network.givenUp()).isEqualTo(1);
        assertThat(network.messagesArrived()).isZero();
    }

    @Test
    void message_acknowledged_isNotSentAgain() {
        Map<UUID, List<Copy>> byMessage = all(new Settings(3_000, 100, 139, 0.5, 0, 0, 1, 5)).stream()
                .collect(Collectors.groupingBy(copy -> copy.message().id));
        assertThat(byMessage.values())
                .allSatisfy(copies ->
                        assertThat(copies.subList(0, copies.size() - 1)).noneMatch(Copy::acknowledged));
    }

    @Test
    void application_killedAfterFirstSend_sendsTheSameIdAnHourLater() {
        Map<UUID, List<Copy>> byMessage = all(new Settings(200, 10, 139, 0, 1, 0, 1, 5)).stream()
                .collect(Collectors.groupingBy(copy -> copy.message().id));
        assertThat(byMessage).hasSize(200);
        assertThat(byMessage.values()).allSatisfy(copies -> {
            assertThat(copies).extracting(Copy::afterRestart).containsExactly(false, true);
            assertThat((copies.get(1).at() - copies.get(0).at()) / SECOND).isCloseTo(3_600, within(1.0));
        });
    }

    @Test
    void businessRetry_hasANewMessageIdAndTheSameBusinessId() {
        List<Copy> copies = all(new Settings(200, 10, 139, 0, 0, 1, 1, 5));
        assertThat(copies).hasSize(400);
        assertThat(copies).extracting(copy -> copy.message().id).doesNotHaveDuplicates();
        Set<String> businessIds = new HashSet<>();
        copies.forEach(copy -> businessIds.add(String.valueOf(copy.message().businessId)));
        assertThat(businessIds).hasSize(200);
    }

    @Test
    void sender_saysTheSameTwiceOnPurpose_withinSeconds() {
        List<Message> said = all(new Settings(2_000, 50, 139, 0, 0, 0, 1, 5)).stream()
                .map(Copy::message)
                .filter(message -> message.text.equals("ok"))
                .toList();
        Map<Integer, List<Message>> bySender = said.stream().collect(Collectors.groupingBy(message -> message.sender));
        assertThat(said)
                .extracting(message -> message.meaning)
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(20);
        assertThat(bySender.values()).allSatisfy(oks -> assertThat(oks).hasSizeGreaterThan(1));
    }

    private static List<Copy> all(Settings settings) {
        List<Copy> copies = new ArrayList<>();
        new Network(settings).forEachRemaining(copies::add);
        return copies;
    }

    private static List<String> described(Settings settings) {
        return all(settings).stream()
                .map(copy -> copy.at() + " " + copy.message().id + " " + copy.arrived() + " " + copy.acknowledged()
                        + " " + copy.server())
                .toList();
    }
}
