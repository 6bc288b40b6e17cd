package dev.idempotency.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A script in Lua and its digest, by which a server that has seen it before can be told to run it. */
final class Script {

    private final byte[] source;
    private final byte[] digest;

    private Script(byte[] source, byte[] digest) {
        this.source = source;
        this.digest = digest;
    }

    /** The text; not to be changed. */
    byte[] source() {
        return source;
    }

    /** The digest in hexadecimal; not to be changed. */
    byte[] digest() {
        return digest;
    }

    /** Puts files of this package together, in order. */
    static Script of(String... files) {
        StringBuilder source = new StringBuilder();
        for (String file : files) {
            source.append(text(file));
        }
        byte[] bytes = source.toString().getBytes(StandardCharsets.UTF_8);
        try {
            // Not for security: it is how Redis names scripts.
            byte[] sha1 = MessageDigest.getInstance("SHA-1").digest(bytes);
            return new Script(bytes, HexFormat.of().formatHex(sha1).getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
    }

    private static String text(String file) {
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
