package dev.idempotency.examples.runs;

import dev.idempotency.testkit.servers.RedisServer;
import java.util.Locale;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;

/** What can become of a Redis, for a while. */
enum RedisFault {
    /** Nothing. */
    HEALTHY,
    /** Its process is killed, and started again in the end. */
    KILLED {
        @Override
        void begin(RedisServer server, RedisClient client, long millis) {
            server.kill();
        }

        @Override
        void end(RedisServer server, RedisClient client) {
            server.restart();
        }
    },
    /** It takes commands, and answers when it is over. */
    PAUSED {
        @Override
        void begin(RedisServer server, RedisClient client, long millis) {
            run(client, Protocol.Command.CLIENT, "PAUSE", Long.toString(millis));
        }
    },
    /** Its memory is full, and it evicts nothing. */
    FULL {
        @Override
        void begin(RedisServer server, RedisClient client, long millis) {
            client.configSet("maxmemory", "1");
        }

        @Override
        void end(RedisServer server, RedisClient client) {
            client.configSet("maxmemory", "0");
        }
    },
    /** It is emptied again and again. */
    FLUSHED {
        @Override
        void begin(RedisServer server, RedisClient client, long millis) {
            client.flushAll();
        }

        @Override
        void goOn(RedisClient client) {
            client.flushAll();
        }
    },
    /** It is the replica of a master that is not there. */
    READ_ONLY {
        @Override
        void begin(RedisServer server, RedisClient client, long millis) {
            run(client, Protocol.Command.REPLICAOF, "127.0.0.1", "1");
        }

        @Override
        void end(RedisServer server, RedisClient client) {
            run(client, Protocol.Command.REPLICAOF, "NO", "ONE");
        }
    };

    /** Begins; one that ends by itself does so after that many milliseconds. */
    void begin(RedisServer server, RedisClient client, long millis) {}

    /** Called now and then while it lasts. */
    void goOn(RedisClient client) {}

    void end(RedisServer server, RedisClient client) {}

    private static void run(RedisClient client, Protocol.Command command, String... words) {
        CommandArguments arguments = new CommandArguments(command);
        for (String word : words) {
            arguments.add(word);
        }
        client.executeCommand(arguments);
    }

    /** As it is printed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
