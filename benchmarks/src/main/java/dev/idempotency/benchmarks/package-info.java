/** What the programs of this module share: the folder of results. What is measured, and how, is in the packages below. */
@NullMarked
package dev.idempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
