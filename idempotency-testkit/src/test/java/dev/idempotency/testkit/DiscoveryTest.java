package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** JUnit finds each test of each theme through the one class of the author. */
final class DiscoveryTest {

    private static final List<Class<?>> THEMES = List.of(
            BasicContract.class,
            WindowContract.class,
            KeyContract.class,
            TwoLayerContract.class,
            ExpiryContract.class,
            BatchContract.class,
            ConcurrencyContract.class,
            TransactionContract.class);

    @Test
    void contractOfAStoreThatKeepsAll_isFoundAndPassedAsAWhole() {
        ContractRun run = ContractRun.of(selectClass(ReferenceStoreTest.class), "none", "");
        assertThat(run.passed())
                .containsExactlyInAnyOrderElementsOf(
                        tests().map(DiscoveryTest::name).toList());
        assertThat(run.failed()).isEmpty();
        assertThat(run.skipped()).isEmpty();
    }

    @Test
    void testsThatDoNotApplyToAnOwnTable_showAsSkipped() {
        ContractRun run = ContractRun.of(selectClass(OwnTableStoreTest.class), "none", "");
        assertThat(run.failed()).isEmpty();
        assertThat(run.skipped())
                .isNotEmpty()
                .allMatch(name -> name.contains("S8") || name.contains("S11") || name.contains("W-10"));
        assertThat(run.passed().size() + run.skipped().size()).isEqualTo((int) tests().count());
    }

    @Test
    void eachTestOfTheContract_hasANameOfItsOwnThatBeginsWithARule() {
        assertThat(tests().map(DiscoveryTest::name))
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("([WSJKRL]-?\\d+(, )?)+: .*"));
    }

    private static Stream<Method> tests() {
        return THEMES.stream()
                .flatMap(theme -> Arrays.stream(theme.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Test.class));
    }

    private static String name(Method test) {
        return test.getAnnotation(DisplayName.class).value();
    }
}
