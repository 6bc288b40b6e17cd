package dev.idempotency.benchmarks.window;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.idempotency.Codec;
import dev.idempotency.Window;
import dev.idempotency.window.CaffeineWindow;
import dev.idempotency.window.CompactWindow;
import java.time.Duration;

/** The windows that are held against each other. */
public enum Kind {
    /** Bytes in arrays. */
    COMPACT {
        @Override
        Window.Spec spec(Duration lasting, Ticker ticker) {
            return CompactWindow.lasting(lasting, Codec.bytes()).ticker(ticker);
        }
    },
    /** Objects in a Caffeine cache. */
    CAFFEINE {
        @Override
        Window.Spec spec(Duration lasting, Ticker ticker) {
            return CaffeineWindow.lasting(lasting).ticker(ticker);
        }
    },
    /** A bare map, which forgets what it is told to and nothing by itself: no window, but the least that one could be. */
    MAP {
        @Override
        Window.Spec spec(Duration lasting, Ticker ticker) {
            return new MapWindow.Spec(lasting, ticker);
        }
    };

    /** How to make one. */
    abstract Window.Spec spec(Duration lasting, Ticker ticker);
}
