package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.testkit.Memory.Transaction;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** The contract can fail: each store that is wrong in one way fails the test that names the rule it breaks. */
final class BrokenStoresTest {

    @TestFactory
    Stream<DynamicTest> brokenStore_failsTheTestThatNamesTheRule() {
        return Fault.all()
                .map(fault -> DynamicTest.dynamicTest(fault.name(), () -> {
                    List<String> failed = ContractRun.of(selectClass(BrokenContract.class), "fault", fault.name())
                            .failed();
                    assertThat(failed).as("tests that failed").anyMatch(name -> name.startsWith(fault.test()));
                }));
    }

    @ExtendWith(TheFault.class)
    static final class BrokenContract implements StoreContract<Transaction>, TransactionContract<Transaction> {

        private final Memory memory = new Memory();
        private final Fault fault;
        private final ReferenceStore store;

        BrokenContract(Fault fault) {
            this.fault = fault;
            this.store = fault.over(memory);
        }

        @Override
        public IdempotencyStore<Transaction, @Nullable String> store() {
            return store;
        }

        @Override
        public IdempotencyStore<Transaction, @Nullable String> anotherServer() {
            return fault.over(memory);
        }

        @Override
        public void performs(Transaction context, Request request, @Nullable String response) {
            context.effect(request.keys());
        }

        @Override
        public int effects(IdempotencyKey key) {
            return memory.effects(key);
        }

        @Override
        public void age(IdempotencyKey key, Duration by) {
            memory.advance(by);
        }
    }

    /** Tells the contract class, which JUnit makes, which fault it is about. */
    static final class TheFault implements ParameterResolver {

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == Fault.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            String name = context.getConfigurationParameter("fault").orElseThrow();
            return Fault.all()
                    .filter(fault -> fault.name().equals(name))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
