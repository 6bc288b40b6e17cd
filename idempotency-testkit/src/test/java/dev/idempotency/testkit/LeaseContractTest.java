package dev.idempotency.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import dev.idempotency.store.Lease;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** An honest store with leases passes the contract, and each wrong one fails the test that names the rule it breaks. */
final class LeaseContractTest {

    @TestFactory
    Stream<DynamicTest> leases_passIfHonestAndFailTheTestThatNamesTheRuleIfNot() {
        return Arrays.stream(LeaseFault.values())
                .map(fault -> DynamicTest.dynamicTest(fault.name(), () -> {
                    ContractRun run = ContractRun.of(
                            selectClass(fault == LeaseFault.HONEST ? AllOfIt.class : Leases.class),
                            "fault",
                            fault.name());
                    assertThat(run.passed()).as("tests that passed").isNotEmpty();
                    assertThat(run.skipped()).as("tests that were skipped").isEmpty();
                    if (fault == LeaseFault.HONEST) {
                        assertThat(run.failed()).as("tests that failed").isEmpty();
                    } else {
                        assertThat(run.failed())
                                .as("tests that failed")
                                .anyMatch(name -> name.startsWith(fault.test()));
                    }
                }));
    }

    @ExtendWith(TheFault.class)
    static class Leases implements LeaseContract {

        private final Map<IdempotencyKey, Integer> effects = new ConcurrentHashMap<>();
        private final ReferenceLeases store;

        Leases(LeaseFault fault) {
            store = fault.store();
        }

        @Override
        public IdempotencyStore<Lease, @Nullable String> store() {
            return store;
        }

        @Override
        public IdempotencyStore<Lease, @Nullable String> anotherServer() {
            return store;
        }

        @Override
        public void performs(Lease context, Request request, @Nullable String response) {
            List<IdempotencyKey> keys = request.keys();
            keys.forEach(key -> effects.merge(key, 1, Integer::sum));
        }

        @Override
        public int effects(IdempotencyKey key) {
            return effects.getOrDefault(key, 0);
        }

        @Override
        public void age(IdempotencyKey key, Duration by) {
            store.advance(by);
        }

        @Override
        public void lapse(IdempotencyKey key) {
            store.lapse(key);
        }
    }

    static final class AllOfIt extends Leases implements StoreContract<Lease> {
        AllOfIt(LeaseFault fault) {
            super(fault);
        }
    }

    /** Tells the contract class, which JUnit makes, which fault it is about. */
    static final class TheFault implements ParameterResolver {

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == LeaseFault.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return LeaseFault.valueOf(context.getConfigurationParameter("fault").orElseThrow());
        }
    }
}
