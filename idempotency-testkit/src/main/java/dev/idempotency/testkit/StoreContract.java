package dev.idempotency.testkit;

/**
 * What every store keeps, all themes together. See {@link StoreFixture} for how to run it on a store.
 *
 * @param <C> what the store hands to actions
 */
public interface StoreContract<C>
        extends BasicContract<C>,
                WindowContract<C>,
                KeyContract<C>,
                TwoLayerContract<C>,
                ExpiryContract<C>,
                BatchContract<C>,
                ConcurrencyContract<C> {}
