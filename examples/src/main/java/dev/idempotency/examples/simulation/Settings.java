package dev.idempotency.examples.simulation;

/**
 * What is simulated. The same settings give the same copies at the same virtual times.
 *
 * @param messages how many messages are sent, business retries not counted
 * @param senders how many senders take turns at random
 * @param rate messages a second of virtual time, on average
 * @param loss the share of messages, and of acknowledgements, that the network loses
 * @param resent the share of messages whose sender's application is killed and sends from its outbox an hour later
 * @param retried the share of messages that a business system sends once more, under a new message ID
 * @param servers how many servers receive, each with a memory of its own, all on one database
 * @param seed of the random numbers
 */
record Settings(
        int messages, int senders, double rate, double loss, double resent, double retried, int servers, long seed) {

    static final int MOST_MESSAGES = 100_000_000;
    static final int MOST_SENDERS = 1_000_000;
    static final int FASTEST = 1_000_000;
    static final int MOST_SERVERS = 1_000;

    Settings {
        within("--messages", messages, MOST_MESSAGES);
        within("--senders", senders, MOST_SENDERS);
        within("--servers", servers, MOST_SERVERS);
        if (!(rate >= 0.001 && rate <= FASTEST)) {
            throw new IllegalArgumentException(
                    String.format("--rate takes 0.001 to %,d messages a second, not %s", FASTEST, rate));
        }
        share("--loss", loss);
        share("--resent", resent);
        share("--retried", retried);
    }

    private static void within(String option, int number, int most) {
        if (number < 1 || number > most) {
            throw new IllegalArgumentException(
                    String.format("%s takes a whole number from 1 to %,d, not %d", option, most, number));
        }
    }

    private static void share(String option, double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException(option + " takes a share from 0 to 1, such as 0.02, not " + share);
        }
    }
}
