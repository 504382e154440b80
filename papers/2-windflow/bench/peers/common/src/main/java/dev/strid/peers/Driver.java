// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Locale;

/**
 * What the programs of all engines do: one run whose rows are written, or a run that warms the
 * process up and then those that are measured.
 *
 * <pre>
 *   APPLICATION --input FILE [--parallelism N] [options of the application and of the engine]
 *     --once --output FILE      every record once; the rows of the answer
 *     --duration 10s            replay for so long; each measured run is a line of JSON
 *     --warmup 10s              replay for so long before, unmeasured
 *     --rounds 1                measured runs
 *     --turns                   each measured run waits for a line on standard input; a line of
                               JSON says when the process is warm
 *     --pace N                  N seconds of the input a second, each record once: latencies
 *     --rate N                  N records a second, open loop: latencies are measured
 *     --waiting park|spin       what a source does until the next record is due
 * </pre>
 */
public final class Driver {
    /** What an engine does. */
    public interface Engine {
        void run(Run.Plan plan) throws Exception;
    }

    /** What a program does with its options. */
    public interface Program {
        void run(Options options) throws Exception;
    }

    private Driver() {}

    /** Ends the process, as engines leave threads behind. */
    public static void main(String[] arguments, Program program) {
        int status = 0;
        try {
            program.run(new Options(arguments));
        } catch (PeerException e) {
            System.err.println("peers: error: " + e.getMessage());
            status = 1;
        } catch (Exception e) {
            e.printStackTrace();
            status = 1;
        }
        System.out.flush();
        System.exit(status);
    }

    /** Refuses --rate for applications whose latencies cannot be measured. */
    public static void checkLatency(Options options, boolean measurable) {
        if (options.has("rate") && !measurable) {
            throw new PeerException(options.application() + " assigns times: no latencies");
        }
    }

    public static void drive(Options options, String name, String version, Engine engine)
            throws Exception {
        if (options.has("once")) {
            var output = options.file("output");
            engine.run(Run.Plan.onePass());
            Input.write(output, Run.current().rows());
            return;
        }
        boolean spins = options.text("waiting", "park").equals("spin");
        double pace = options.number("pace", 0);
        long durationNs = options.duration("duration", "10s");
        long warmupNs = options.duration("warmup", "10s");
        int rounds = options.count("rounds", 1);
        boolean turns = options.has("turns");
        double rate = options.has("rate") ? options.number("rate", 0) : 0;
        String before = String.format(Locale.ROOT,
                "\"engine\":\"%s\",\"version\":\"%s\",\"application\":\"%s\",\"parallelism\":%d",
                name, version, options.application(), options.count("parallelism", 1));
        if (warmupNs > 0) engine.run(Run.Plan.replay(warmupNs, rate, spins));
        var input = new BufferedReader(new InputStreamReader(System.in));
        if (turns) System.out.println("{\"warm\":true}");
        for (int round = 0; round < rounds; ++round) {
            if (turns && input.readLine() == null) return;
            System.gc();  // no run pays for the garbage of the one before
            engine.run(pace > 0
                    ? Run.Plan.paced(pace, spins)
                    : Run.Plan.replay(durationNs, rate, spins));
            System.out.println(Run.current().json(before));
        }
    }
}
