package dev.idempotency.examples.simulation;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.Locale;

/** How numbers are written, the same in every country. */
final class Numbers {

    private Numbers() {}

    /** Such as 10,000. */
    static String plain(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** Such as 13,900 or 0.5. */
    static String plain(double number) {
        return new DecimalFormat("#,##0.###", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(number);
    }

    /** Of a share, such as 2% or 12.5%. */
    static String percent(double share) {
        return new DecimalFormat("0.###%", DecimalFormatSymbols.getInstance(Locale.ROOT)).format(share);
    }

    /** Such as "1 server" or "4 servers". */
    static String counted(long number, String what) {
        return plain(number) + " " + what + (number == 1 ? "" : "s");
    }
}
