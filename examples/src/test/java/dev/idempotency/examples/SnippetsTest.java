package dev.idempotency.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the documents show is code that is compiled and run: each snippet stands, to the letter, in a source file. */
class SnippetsTest {

    private static final Path ROOT = root();
    private static final Pattern SNIPPET = Pattern.compile("^```java\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern SPACE = Pattern.compile("\\s+");

    @Test
    @DisplayName("Each Java snippet of the documents stands in a source file, but for white space")
    void snippets_standInSources() throws IOException {
        List<String> sources = new ArrayList<>();
        for (Path file : files(ROOT, ".java")) {
            sources.add(folded(Files.readString(file)));
        }
        List<Path> documents = new ArrayList<>(files(ROOT.resolve("docs"), ".md"));
        documents.add(ROOT.resolve("README.md"));
        int snippets = 0;
        for (Path document : documents) {
            Matcher snippet = SNIPPET.matcher(Files.readString(document));
            while (snippet.find()) {
                snippets++;
                String code = folded(snippet.group(1));
                assertThat(sources.stream().anyMatch(source -> source.contains(code)))
                        .as("a source file holds this snippet of %s: %s", document.getFileName(), snippet.group(1))
                        .isTrue();
            }
        }
        assertThat(snippets).isGreaterThanOrEqualTo(3);
    }

    @Test
    @DisplayName("README keeps to 150 lines, and its links lead somewhere")
    void readme_isShort_andItsLinksWork() throws IOException {
        String readme = Files.readString(ROOT.resolve("README.md"));
        assertThat(readme.lines().count()).isLessThanOrEqualTo(150);
        Matcher link = Pattern.compile("\\]\\((?!https?:)([^)#]+)").matcher(readme);
        while (link.find()) {
            assertThat(ROOT.resolve(link.group(1))).exists();
        }
    }

    private static List<Path> files(Path folder, String ending) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .filter(file -> !file.toString().contains("target"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String folded(String code) {
        return SPACE.matcher(code).replaceAll("");
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("README.md"))) {
            Path parent = folder.getParent();
            if (parent == null) {
                throw new IllegalStateException("README.md is in no folder above");
            }
            folder = parent;
        }
        return folder;
    }
}
