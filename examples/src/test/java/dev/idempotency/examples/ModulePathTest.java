package dev.idempotency.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library as modules: what module descriptors leave out shows only when a program runs on the module path. */
class ModulePathTest {

    @Test
    @DisplayName("The two-layer service runs on the module path, with nothing added by hand")
    void twoLayers_runsOnModulePath(@TempDir Path folder) throws IOException, InterruptedException {
        List<String> testsAlone = List.of(
                "test-classes",
                "embedded-redis",
                "jupiter-params",
                "jupiter-engine",
                "platform-engine",
                "launcher",
                "surefire");
        String modulePath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> testsAlone.stream().noneMatch(entry::contains))
                .collect(Collectors.joining(File.pathSeparator));
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        modulePath,
                        "--module",
                        "dev.idempotency.examples/" + TwoLayers.class.getName(),
                        folder.resolve("db").toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(program.waitFor()).as(output).isZero();
        assertThat(output).contains("Executed", "Replayed");
    }
}
