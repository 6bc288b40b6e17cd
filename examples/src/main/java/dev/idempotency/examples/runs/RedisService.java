package dev.idempotency.examples.runs;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.redis.RedisLeaseOptions;
import dev.idempotency.redis.RedisStores;
import dev.idempotency.store.Lease;
import dev.idempotency.store.LeaseOptions;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/**
 * Leases in Redis, and effects beside them or in another Redis, in a list for each number, which refuses nothing. An action that has taken over looks
 * there before it causes its effect again. On a cluster the names of a meaning share a hash tag.
 */
final class RedisService implements Service {

    private static final int FETCH = 1_000;
    private static final Duration CONFIRMED_WITHIN = Duration.ofSeconds(1);

    private final String effects;
    private final UnifiedJedis client;
    private final UnifiedJedis receiver;
    private final List<HostAndPort> masters;
    private final Idempotency<Lease, String> sends;
    private final LongAdder takeovers = new LongAdder();

    RedisService(ServiceSettings settings) {
        effects = "effects-" + settings.run() + "-";
        client = client(settings, settings.url());
        receiver = client(settings, settings.effects());
        masters = masters(settings.effects());
        Idempotency.Builder<Lease, String> builder = Idempotency.with(RedisStores.leased(
                client,
                Codec.utf8(),
                RedisLeaseOptions.defaults()
                        .hashTag(Keys::hashTag)
                        .confirmedBy(settings.confirmedBy(), CONFIRMED_WITHIN)
                        .leases(LeaseOptions.defaults()
                                .lease(settings.lease())
                                .waitAtMost(settings.lease().dividedBy(4)))));
        sends = settings.window() ? builder.window(JdbcService.nearWindow()).build() : builder.build();
    }

    private static List<HostAndPort> masters(String url) {
        return Stream.of(url.replace("redis://", "").split(",", -1))
                .map(HostAndPort::from)
                .toList();
    }

    private static UnifiedJedis client(ServiceSettings settings, String url) {
        List<HostAndPort> masters = masters(url);
        return settings.database() == DatabaseKind.REDIS_CLUSTER
                ? RedisClusterClient.create(new HashSet<>(masters))
                : RedisClient.create(masters.get(0).getHost(), masters.get(0).getPort());
    }

    @Override
    public Outcome<String> send(Request request, Effect effect) {
        return sends.execute(request, lease -> {
            effect.takeTime();
            String list = effects + effect.number();
            if (lease.takenOver()) {
                takeovers.increment();
                Optional<String> earlier =
                        receiver.lrange(list, 0, -1).stream().max(Comparator.comparingLong(LeasedService::token));
                if (earlier.isPresent()) {
                    return earlier.get();
                }
            }
            lease.effectStarts();
            String response = LeasedService.marked(effect, lease);
            receiver.rpush(list, response);
            return response;
        });
    }

    @Override
    public long takeovers() {
        return takeovers.sum();
    }

    @Override
    public boolean overrides(String effect, String other) {
        return LeasedService.isNewer(effect, other);
    }

    @Override
    public void effects(Reader reader) {
        for (HostAndPort master : masters) {
            try (RedisClient here = RedisClient.create(master.getHost(), master.getPort())) {
                for (String list : lists(here)) {
                    long number = Long.parseLong(list.substring(effects.length()));
                    here.lrange(list, 0, -1).forEach(response -> reader.effect(number, response));
                }
            }
        }
    }

    private Set<String> lists(RedisClient here) {
        // A scan may show a key twice.
        Set<String> lists = new HashSet<>();
        String cursor = ScanParams.SCAN_POINTER_START;
        do {
            ScanResult<String> some =
                    here.scan(cursor, new ScanParams().match(effects + "*").count(FETCH));
            lists.addAll(some.getResult());
            cursor = some.getCursor();
        } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
        return lists;
    }

    @Override
    public void close() {
        client.close();
        receiver.close();
    }
}
