package dev.idempotency.testkit.servers;

/** Why a server did not start: often that its binaries are not there for this system. Its tests should show as skipped. */
public final class NotStarted extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotStarted(String what, Throwable cause) {
        super(what + " can't be started on this system: " + cause, cause);
    }
}
