package dev.idempotency.examples.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class SimulationTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final ByteArrayOutputStream terminal = new ByteArrayOutputStream();

    @Test
    void tables_withoutShares_areTwoWithAllModesInOrder() {
        assertThat(run("--messages", "300")).isZero();
        List<String> labels = Arrays.stream(Mode.values()).map(Mode::label).toList();
        assertThat(labels)
                .containsExactly(
                        "no dedup",
                        "sender and text",
                        "highest number",
                        "window only",
                        "unique key only",
                        "window and unique key",
                        "two layers");
        List<String> rows = lines().stream()
                .filter(line -> labels.stream().anyMatch(label -> line.matches(label + "  +[0-9].*")))
                .map(line -> line.replaceFirst("  .*", ""))
                .toList();
        assertThat(rows).hasSize(14);
        assertThat(rows.subList(0, 7)).isEqualTo(labels);
        assertThat(rows.subList(7, 14)).isEqualTo(labels);
        assertThat(lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void defaultRun_firstLineWithNoDedup_hasTheShareOnPaper() {
        assertThat(run("--mode", "no-dedup")).isZero();
        String first = lines().stream()
                .filter(line -> line.toLowerCase(Locale.ROOT).contains("no dedup"))
                .findFirst()
                .orElseThrow();
        Matcher percentages = Pattern.compile("([0-9.]+)%").matcher(first);
        assertThat(percentages.results().map(found -> Double.valueOf(found.group(1))))
                .singleElement()
                .satisfies(share -> assertThat(share).isBetween(10.3, 12.0));
    }

    @Test
    void table_withAShare_isOne() {
        assertThat(run("--messages", "50", "--resent", "0.5", "--modes", "two-layers,window-only"))
                .isZero();
        assertThat(lines()).filteredOn(line -> line.startsWith("window only ")).hasSize(1);
        assertThat(lines()).filteredOn(line -> line.startsWith("two layers ")).hasSize(1);
    }

    @Test
    void table_whereNothingArrives_isPrinted() {
        assertThat(run("--messages", "5", "--loss", "1")).isZero();
        assertThat(lines()).anyMatch(line -> line.matches("no dedup +0 +0 +0 +0\\.0% +0 +0 +0 +0"));
    }

    @Test
    void timeLine_defaults_showsEachFateInEightRows() {
        assertThat(run("--timeline")).isZero();
        List<String> rows = lines().stream()
                .filter(line -> line.matches("[1-8] +[0-9.]+ s .*"))
                .toList();
        assertThat(rows).hasSize(8);
        assertThat(String.join("\n", rows)).contains("-->x", "stored", "x<--", "window", "key", "REPEAT", "(killed)");
        assertThat(lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }

    @Test
    void timeLine_senderAndText_showsWhatIsSwallowed() {
        assertThat(run("--timeline", "--messages", "100", "--mode", "sender-and-text"))
                .isZero();
        assertThat(lines()).anyMatch(line -> line.matches("[0-9]+ .* ok  .*SWALLOWED.*"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--unknown",
                "leftover",
                "--loss 1.01",
                "--loss -0.1",
                "--loss NaN",
                "--loss half",
                "--resent 2",
                "--retried 1.5",
                "--messages -5",
                "--messages 0",
                "--messages 100000001",
                "--messages 99999999999",
                "--messages ten",
                "--messages",
                "--messages 1 --messages 2",
                "--senders 0",
                "--servers -1",
                "--rate 0",
                "--rate Infinity",
                "--seed x",
                "--modes all-of-them",
                "--timeline --messages 101",
                "--timeline=perhaps"
            })
    void badInput_anyOption_isRefusedInOneLine(String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines())
                .singleElement()
                .satisfies(line -> assertThat(line).containsPattern("takes|allowed|one of|--[a-z]+: "));
    }

    @Test
    void help_asked_namesEveryOption() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains("--messages", "--senders", "--rate", "--loss", "--resent", "--retried", "--servers", "--seed")
                .contains("--mode", "--timeline")
                .contains(Arrays.stream(Mode.values()).map(Mode::option).toList());
    }

    @Test
    void progress_noTerminal_printsNothing() {
        assertThat(run("--messages", "200")).isZero();
        assertThat(terminal.size()).isZero();
    }

    @Test
    void inbox_moreThanFitsInMemory_isAFileThatIsGoneAfterwards() {
        Path file;
        try (Inbox inbox = Inbox.open(Inbox.MOST_IN_MEMORY + 1, Inbox.BOTH_KEYS)) {
            String database = inbox.jdbi()
                    .withHandle(handle -> handle.createQuery("CALL DATABASE_PATH()")
                            .mapTo(String.class)
                            .one());
            file = Path.of(database + ".mv.db");
            assertThat(file).exists();
            assertThat(inbox.rows()).isZero();
        }
        assertThat(file).doesNotExist();
        assertThat(Files.exists(file.resolveSibling(""))).isFalse();
    }

    private int run(String... arguments) {
        Progress progress = new Progress(new PrintStream(terminal, true, StandardCharsets.UTF_8), false);
        CommandLine commandLine = Simulation.commandLine(new Simulation(progress));
        commandLine.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }

    private List<String> lines() {
        return out.toString().lines().toList();
    }
}
