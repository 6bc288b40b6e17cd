package dev.idempotency.examples.runs;

import java.util.ArrayList;
import java.util.List;

/**
 * A race, as its processes are told of it.
 *
 * @param service what is raced for
 * @param processes how many
 * @param threads of each
 * @param keys meanings
 * @param duplicates copies of each
 * @param seed which process gets which copy
 * @param folder where the processes meet
 */
record RaceSettings(
        ServiceSettings service, int processes, int threads, int keys, int duplicates, long seed, String folder) {

    List<String> arguments(int process) {
        List<String> arguments = new ArrayList<>(service.arguments());
        arguments.addAll(List.of("" + processes, "" + threads, "" + keys, "" + duplicates, "" + seed, folder));
        arguments.add("" + process);
        return arguments;
    }

    static RaceSettings of(String[] arguments) {
        int i = ServiceSettings.ARGUMENTS;
        return new RaceSettings(
                ServiceSettings.of(arguments),
                Integer.parseInt(arguments[i]),
                Integer.parseInt(arguments[i + 1]),
                Integer.parseInt(arguments[i + 2]),
                Integer.parseInt(arguments[i + 3]),
                Long.parseLong(arguments[i + 4]),
                arguments[i + 5]);
    }

    static int process(String[] arguments) {
        return Integer.parseInt(arguments[ServiceSettings.ARGUMENTS + 6]);
    }

    long calls() {
        return (long) keys * duplicates;
    }
}
