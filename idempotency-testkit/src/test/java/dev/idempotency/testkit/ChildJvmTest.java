package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ChildJvmTest {

    private static final Duration AT_MOST = Duration.ofMinutes(1);

    @Test
    void race_twoJvmsCreateOneFile_oneIsFirstAndEachTellsItsLines(@TempDir Path folder) throws Exception {
        List<String> arguments = List.of("create", folder.resolve("only-one").toString());
        List<List<String>> lines = ChildJvm.race(Program.class, AT_MOST, List.of(arguments, arguments));
        assertThat(lines).containsExactlyInAnyOrder(List.of("first"), List.of("late, é😀"));
    }

    @Test
    void awaitReady_childThatHasNotBeenLetGo_hasDoneNothing(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("file");
        try (ChildJvm child = ChildJvm.start(Program.class, AT_MOST, "create", file.toString())) {
            child.awaitReady();
            assertThat(file).doesNotExist();
            child.go();
            assertThat(child.finish()).containsExactly("first");
            assertThat(file).exists();
        }
    }

    @Test
    void kill_childThatNeverEnds_endsItAndTellsWhatItHadPrinted() throws Exception {
        try (ChildJvm child = ChildJvm.start(Program.class, AT_MOST, "never-end")) {
            child.awaitReady();
            child.go();
            while (child.lines().size() < 3) {
                Thread.onSpinWait();
            }
            List<String> lines = child.kill();
            assertThat(lines).startsWith("0", "1", "2").doesNotContain("shutdown hook");
            assertThat(child.kill()).isEqualTo(lines);
        }
    }

    @Test
    void finish_childThatNeverEnds_failsWhenItsTimeIsOver() throws Exception {
        try (ChildJvm child = ChildJvm.start(Program.class, Duration.ofSeconds(5), "never-end")) {
            child.awaitReady();
            child.go();
            assertThatThrownBy(child::finish)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("did not end in time");
        }
    }

    @Test
    void finish_childThatFails_failsWithItsErrors() throws Exception {
        try (ChildJvm child = ChildJvm.start(Program.class, AT_MOST, "fail")) {
            child.awaitReady();
            child.go();
            assertThatThrownBy(child::finish)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("exit code 1")
                    .hasMessageContaining("the program's own");
        }
    }

    @Test
    void race_childThatIsNeverReady_failsAndLeavesNoneRunning() {
        assertThatThrownBy(() ->
                        ChildJvm.race(Program.class, AT_MOST, List.of(List.of("never-end"), List.of("not-even-ready"))))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("exit code 3 before it was ready");
        assertThat(ProcessHandle.current().children())
                .filteredOn(child -> child.info().commandLine().orElse("").contains(Program.class.getName()))
                .allSatisfy(child -> assertThat(child.onExit()).succeedsWithin(AT_MOST));
    }

    /** What the children run. */
    static final class Program {

        public static void main(String[] arguments) throws Exception {
            if (arguments[0].equals("not-even-ready")) {
                System.exit(3);
            }
            ChildJvm.awaitGo();
            switch (arguments[0]) {
                case "create" -> System.out.println(create(Path.of(arguments[1])));
                case "fail" -> throw new IllegalStateException("the program's own");
                default -> neverEnd();
            }
        }

        private static String create(Path file) throws Exception {
            try {
                Files.writeString(file, "here", StandardCharsets.UTF_8, java.nio.file.StandardOpenOption.CREATE_NEW);
                return "first";
            } catch (FileAlreadyExistsException e) {
                return "late, é😀";
            }
        }

        private static void neverEnd() throws InterruptedException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("shutdown hook")));
            for (int i = 0; i < 3; i++) {
                System.out.println(i);
            }
            new CountDownLatch(1).await();
        }
    }
}
