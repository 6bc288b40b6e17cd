package dev.idempotency.examples.runs;

import dev.idempotency.Outcome;
import dev.idempotency.Outcome.Executed;
import dev.idempotency.Outcome.InProgress;
import dev.idempotency.Outcome.Replayed;
import dev.idempotency.OutcomeUnknownException;
import dev.idempotency.Request;
import dev.idempotency.RetryableException;
import dev.idempotency.testkit.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One process of a race. Its threads take the copies that fell to it in the order of their keys, send each until it is
 * answered, and compare the answers.
 */
final class RaceProcess {

    private final RaceSettings settings;
    private final int process;
    private final Service service;
    private final Board board;
    private final Replies replies;
    private final Counts counts = new Counts();
    private final SplittableRandom chance;
    private int key;
    private int copy;

    private RaceProcess(RaceSettings settings, int process) {
        this.settings = settings;
        this.process = process;
        this.service = settings.service().open();
        this.board = new Board(Path.of(settings.folder(), "board"), settings.processes());
        this.replies = new Replies(settings.keys());
        this.chance = new SplittableRandom(settings.seed());
    }

    /** The program that the race starts. */
    public static void main(String[] arguments) throws Exception {
        RaceSettings settings = RaceSettings.of(arguments);
        RaceProcess race = new RaceProcess(settings, RaceSettings.process(arguments));
        ChildJvm.awaitGo();
        race.run();
        System.exit(0);
    }

    private void run() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < settings.threads(); i++) {
            Thread thread = new Thread(this::sendAll, "sender-" + i);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        board.at(process, Long.MAX_VALUE);
        counts.add("takeovers", service.takeovers());
        replies.write(Path.of(settings.folder(), "replies-" + process));
        counts.lines().forEach(System.out::println);
        System.out.flush();
        service.close();
    }

    /** A copy of a key. */
    private record Copy(int key, int number) {}

    private void sendAll() {
        try {
            for (Copy next = next(); next != null; next = next()) {
                board.keepTogether(next.key(), 2L * settings.threads());
                send(next);
                board.answered(process);
            }
        } catch (RuntimeException | Error e) {
            counts.add("failure " + e);
        }
    }

    /** All processes throw the same dice, and each takes what falls to it. */
    private synchronized @Nullable Copy next() {
        while (key < settings.keys()) {
            int number = copy++;
            int mine = key;
            if (copy == settings.duplicates()) {
                copy = 0;
                key++;
            }
            if (chance.nextInt(settings.processes()) == process) {
                board.at(process, mine);
                return new Copy(mine, number);
            }
        }
        board.at(process, Long.MAX_VALUE);
        return null;
    }

    private void send(Copy next) {
        Request request = Keys.request(settings.service().run(), next.key(), next.number());
        for (int tries = 0; ; tries++) {
            String response = "process " + process + " copy " + next.number() + " try " + tries;
            try {
                Outcome<String> outcome = service.send(request, new Effect(next.key(), response, Duration.ZERO));
                if (!(outcome instanceof InProgress)) {
                    answered(next, outcome);
                    return;
                }
                counts.add("again InProgress");
            } catch (RetryableException | OutcomeUnknownException e) {
                counts.add("again " + e.getClass().getSimpleName());
            } catch (RuntimeException e) {
                counts.add("failure " + e);
                return;
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toNanos(5)));
        }
    }

    private void answered(Copy next, Outcome<String> outcome) {
        if (outcome instanceof Executed) {
            counts.add("executed");
        } else if (outcome instanceof Replayed<String> replayed) {
            counts.add("replayed by the " + replayed.source());
        } else {
            counts.add("failure " + outcome);
            return;
        }
        if (!replies.same(next.key(), outcome.response())) {
            counts.add("failure a second reply to one key");
        }
    }
}
