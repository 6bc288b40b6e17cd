package dev.idempotency.testkit;

import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The names of the tests of a contract class that JUnit found and ran, by how they ended. */
record ContractRun(List<String> passed, List<String> failed, List<String> skipped) {

    static ContractRun of(DiscoverySelector tests, String parameter, String value) {
        ContractRun run = new ContractRun(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(tests)
                                .configurationParameter(parameter, value)
                                .build(),
                        new TestExecutionListener() {
                            @Override
                            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                                if (test.isTest()) {
                                    run.named(result.getStatus()).add(test.getDisplayName());
                                }
                            }
                        });
        return run;
    }

    private List<String> named(TestExecutionResult.Status status) {
        return switch (status) {
            case SUCCESSFUL -> passed;
            case ABORTED -> skipped;
            case FAILED -> failed;
        };
    }
}
