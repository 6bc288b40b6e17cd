package dev.idempotency.testkit;

import dev.idempotency.IdempotencyKey;
import dev.idempotency.IdempotencyStore;
import dev.idempotency.Request;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the author of a store supplies so that the contract can be run on it. The test class itself implements this, by
 * implementing the themes that apply to its store:
 *
 * <pre>{@code
 * final class MyStoreTest implements StoreContract<Connection>, TransactionContract<Connection> {
 *
 *     private final MyDatabase database = MyDatabase.empty();
 *     private final IdempotencyStore<Connection, String> store = MyStores.transactional(database);
 *
 *     public IdempotencyStore<Connection, String> store() {
 *         return store;
 *     }
 *
 *     public IdempotencyStore<Connection, String> anotherServer() {
 *         return MyStores.transactional(database);
 *     }
 *
 *     public void performs(Connection context, Request request, String response) throws SQLException {
 *         for (IdempotencyKey key : request.keys()) {
 *             database.insertEffect(context, key);
 *         }
 *     }
 *
 *     public int effects(IdempotencyKey key) {
 *         return database.countEffects(key);
 *     }
 *
 *     public void age(IdempotencyKey key, Duration by) {
 *         database.update("… set expires_at = expires_at - ? where record_id = …", key, by);
 *     }
 * }
 * }</pre>
 *
 * <p>{@link StoreContract} is for every store, {@link TransactionContract} for stores whose actions write in the store's
 * own transaction, {@link LeaseContract} for stores that hand a lease to the action. A test that does not apply to a
 * store, by what it says of itself here, shows as skipped.
 *
 * <p>What the contract asks of the fixture:
 *
 * <ul>
 *   <li>JUnit makes an instance of the test class for each test; each must begin with an empty store that no other test
 *       sees.
 *   <li>Keys have a namespace of {@link #NAMESPACES}, at most one key of each in a request, and parts up to their full
 *       length. A table of the user's own can have a column for each.
 *   <li>Responses are null, or texts of up to 70,000 characters of any kind but NUL.
 *   <li>Up to 64 threads call at once; a pool may be smaller, but three connections are needed by one thread (a call
 *       inside an action, and a look at the effects).
 *   <li>A call that waits for another one gives up within seconds, by a refusal or a {@link
 *       dev.idempotency.RetryableException}. A lease lasts a minute or longer, a retention ten minutes or longer.
 * </ul>
 *
 * @param <C> what the store hands to actions
 */
public interface StoreFixture<C> {

    /**
     * The namespaces of all keys that the contract uses. The last one has the greatest length that is allowed. Keys of the
     * first are names of messages, those of the second come from a business system.
     */
    List<String> NAMESPACES = List.of("im", "notice", "order", "n".repeat(IdempotencyKey.MAX_NAMESPACE_BYTES));

    /**
     * The store under test.
     *
     * @return the same store for the whole of a test
     */
    IdempotencyStore<C, @Nullable String> store();

    /**
     * Another store over the same records, made as another server would make it, sharing nothing with {@link #store} but
     * the database.
     *
     * @return a new store; a store that lives in one process returns {@link #store}
     */
    IdempotencyStore<C, @Nullable String> anotherServer();

    /**
     * Leaves an effect that {@link #effects} counts, in the way of this store's users: writes a row through the
     * transaction that is handed over, or changes something outside the store. Where the unique key is on the user's own
     * table, this inserts the row, with all keys of the request, its fingerprint and the response; the violation of that
     * key leaves this method as it is.
     *
     * @param context what the store handed to the action
     * @param request what is being executed
     * @param response what the action is about to return, or null
     * @throws Exception what the database throws, unchanged
     */
    void performs(C context, Request request, @Nullable String response) throws Exception;

    /**
     * How many effects with this key in their request are there to be seen by everyone: committed ones, read outside any
     * transaction that may be open on this thread. Called by many threads.
     *
     * @param key the key
     * @return the number
     * @throws Exception if it could not be read
     */
    int effects(IdempotencyKey key) throws Exception;

    /**
     * Makes the record that holds this key, under all its names, older than it is. In a database its times are moved back
     * and no clock is turned; a store with an injected clock may turn that, and other records age with it. Only stores
     * with a {@link IdempotencyStore#retention() retention} need this.
     *
     * @param key a key of a complete record
     * @param by how much older
     * @throws Exception if it could not be done
     */
    default void age(IdempotencyKey key, Duration by) throws Exception {
        throw new UnsupportedOperationException("a store with a retention must say how its records are made older");
    }

    /**
     * Whether a key that is new while another one of the request is known becomes one more name of that original.
     *
     * @return true; a store over the user's own table says false
     */
    default boolean addsNames() {
        return true;
    }

    /**
     * Whether the fingerprint of the first request is kept with its record.
     *
     * @return true; a store over a user's own table without a column for it says false
     */
    default boolean keepsFingerprint() {
        return true;
    }

    /**
     * Whether the store tells its publication what it has executed.
     *
     * @return true; a store that joins the caller's transaction says false, since the commit is not its to see
     */
    default boolean publishesExecuted() {
        return true;
    }

    /**
     * Whether the store tells its publication what it has replayed.
     *
     * @return true; a store that joins the caller's transaction and can't tell whether that or another one has written the
     *     original says false
     */
    default boolean publishesReplayed() {
        return true;
    }

    /**
     * Whether calls meet records whose action is still running and may yet fail, so that a conflict with one of them may
     * be over soon.
     *
     * @return false; a store that leases says true
     */
    default boolean meetsUnfinished() {
        return false;
    }
}
