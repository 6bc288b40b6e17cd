package dev.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.idempotency.Codec;
import dev.idempotency.Idempotency;
import dev.idempotency.IdempotencyKey;
import dev.idempotency.Outcome;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.store.Lease;
import dev.idempotency.testkit.servers.NotStarted;
import dev.idempotency.testkit.servers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.SslOptions;

/** A store over TLS, with a key that is made for the test. */
final class RedisTlsTest {

    private static final char[] PASSWORD = "only for this test".toCharArray();

    @TempDir
    private Path folder;

    private Path store() throws IOException, InterruptedException {
        Path store = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "redis",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=127.0.0.1",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        return store;
    }

    private String pem(String name, String kind, byte[] bytes) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(
                        folder.resolve(name),
                        "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n",
                        StandardCharsets.US_ASCII)
                .toString();
    }

    private static RedisServer started(String... settings) {
        try {
            return RedisServer.start(settings);
        } catch (NotStarted e) {
            return abort("this system's binary has no TLS: " + e);
        }
    }

    private static RedisClient client(int port, SslOptions ssl) {
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", port)
                .clientConfig(DefaultJedisClientConfig.builder().sslOptions(ssl).build())
                .build();
    }

    @Test
    @DisplayName("a store works over TLS; a server that is not trusted can't be reached, and nothing is run")
    void leased_overTls_works() throws IOException, InterruptedException, GeneralSecurityException {
        Path store = store();
        KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD);
        Key key = keys.getKey("redis", PASSWORD);
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Request request = Request.of(IdempotencyKey.of("im", "sender", "1"));
        String certificate =
                pem("redis.crt", "CERTIFICATE", keys.getCertificate("redis").getEncoded());
        try (RedisServer server = started(
                        "--tls-port",
                        Integer.toString(port),
                        "--tls-auth-clients",
                        "no",
                        "--tls-cert-file",
                        certificate,
                        "--tls-ca-cert-file",
                        certificate,
                        "--tls-key-file",
                        pem("redis.key", "PRIVATE KEY", key.getEncoded()));
                RedisClient client = client(
                        port,
                        SslOptions.builder()
                                .truststore(store.toFile(), PASSWORD)
                                .trustStoreType("PKCS12")
                                .build());
                RedisClient stranger = client(port, SslOptions.defaults());
                RedisClient plain = RedisServers.client(server)) {
            Idempotency<Lease, String> service =
                    Idempotency.with(RedisStores.leased(client, Codec.utf8())).build();
            assertThat(service.execute(request, lease -> "run")).isEqualTo(new Outcome.Executed<>("run"));
            assertThat(service.execute(request, lease -> "again").response()).isEqualTo("run");
            assertThat(plain.dbSize()).isEqualTo(1);
            assertThatThrownBy(() -> RedisStores.leased(stranger, Codec.utf8())).isInstanceOf(RetryableException.class);
        }
    }
}
