package dev.idempotency.benchmarks.window;

import dev.idempotency.window.WindowSizing;
import java.time.Duration;

/**
 * Tells how large a compact window gets for your figures: messages a second, seconds, bytes of a sender's name, bytes of a
 * response.
 *
 * <p>{@code mvn -q -B compile exec:exec -pl benchmarks -am -Dbenchmark=window.YourWindow -Darguments="13900 300 9 16"}
 */
public final class YourWindow {

    private YourWindow() {}

    /**
     * Prints one line, or one for each of the four sizes that the library is made for.
     *
     * @param arguments none, or messages a second, seconds, and optionally the bytes of a sender's name and of a response
     */
    public static void main(String[] arguments) {
        if (arguments.length == 0) {
            for (Load load : Load.ALL) {
                System.out.println(WindowSizing.of(load.rate(), load.lasting()));
            }
            return;
        }
        if (arguments.length != 2 && arguments.length != 4) {
            throw new IllegalArgumentException(
                    "give messages a second and seconds, and perhaps the bytes of a sender's name and of a response");
        }
        WindowSizing sizing =
                WindowSizing.of(Double.parseDouble(arguments[0]), Duration.ofSeconds(Long.parseLong(arguments[1])));
        System.out.println(
                arguments.length == 2
                        ? sizing
                        : sizing.key(Integer.parseInt(arguments[2]), sizing.idBytes())
                                .response(Integer.parseInt(arguments[3])));
    }
}
