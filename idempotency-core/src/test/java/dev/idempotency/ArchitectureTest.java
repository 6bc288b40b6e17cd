package dev.idempotency;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private final JavaClasses classes = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.idempotency");

    @Test
    void packages_haveNoCycles() {
        slices().matching("(dev.idempotency..)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void vocabulary_dependsOnNothingButTheJdk() {
        noClasses()
                .that()
                .resideInAPackage("dev.idempotency")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages("dev.idempotency", "java..", "org.jspecify..")
                .check(classes);
    }

    @Test
    void windowsAndStores_doNotKnowEachOther() {
        noClasses()
                .that()
                .resideInAPackage("..window..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..store..")
                .check(classes);
        noClasses()
                .that()
                .resideInAPackage("..store..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..window..")
                .check(classes);
    }
}
