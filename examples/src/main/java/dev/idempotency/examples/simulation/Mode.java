package dev.idempotency.examples.simulation;

import com.github.benmanes.caffeine.cache.Ticker;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The ways of telling a repeat from a new message, in the order of the report. */
enum Mode {
    NO_DEDUP,
    SENDER_AND_TEXT,
    HIGHEST_NUMBER,
    WINDOW_ONLY,
    UNIQUE_KEY_ONLY,
    WINDOW_AND_UNIQUE_KEY,
    TWO_LAYERS;

    /** The columns of each unique key of this mode's table. */
    List<List<String>> uniqueKeys() {
        return switch (this) {
            case NO_DEDUP, SENDER_AND_TEXT, HIGHEST_NUMBER, WINDOW_ONLY -> List.of();
            case UNIQUE_KEY_ONLY, WINDOW_AND_UNIQUE_KEY -> Inbox.MESSAGE_KEY;
            case TWO_LAYERS -> Inbox.BOTH_KEYS;
        };
    }

    /** Makes a server, with nothing in its memory. */
    Receiver server(Inbox inbox, Ticker clock) {
        return switch (this) {
            case NO_DEDUP -> WithoutLibrary.storeAll(inbox);
            case SENDER_AND_TEXT -> WithoutLibrary.senderAndText(inbox);
            case HIGHEST_NUMBER -> WithoutLibrary.highestNumber(inbox);
            case WINDOW_ONLY -> WithLibrary.windowOnly(inbox, clock);
            case UNIQUE_KEY_ONLY -> WithLibrary.uniqueKeyOnly(inbox);
            case WINDOW_AND_UNIQUE_KEY -> WithLibrary.windowAndUniqueKey(inbox, clock);
            case TWO_LAYERS -> WithLibrary.twoLayers(inbox, clock);
        };
    }

    /** As it stands in the report. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** As it is typed, without blanks. */
    String option() {
        return label().replace(' ', '-');
    }

    static Mode of(String name) {
        return Arrays.stream(values())
                .filter(mode -> mode.option()
                        .equals(name.strip().toLowerCase(Locale.ROOT).replace(' ', '-')))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + name + "' is not one of " + options()));
    }

    static String options() {
        return Arrays.stream(values()).map(Mode::option).collect(Collectors.joining(", "));
    }
}
