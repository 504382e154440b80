// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import java.time.Instant;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.java.tuple.Tuple7;

/** A row of the output: calling, called, start, FoFiR, URL, ACD, score. */
@SuppressWarnings("unchecked") // Tuple.copy
public class Score extends Tuple7<Long, Long, Long, Double, Double, Double, Double> {
    /** Steps 8 to 11 of voip-stream/README.md. */
    public static class Scorer implements MapFunction<Features, Score> {
        private static final double PRIOR = 5;

        private final Score score = new Score();

        @Override
        public Score map(Features call) {
            double mean = call.mean();
            double fofir = ramp(call.ecr() / (call.rcr() + PRIOR), 2, 10);
            double url = ramp(call.encr() / (call.ecr() + PRIOR), 0.5, 1);
            double acd =
                    mean > 0
                            ? ramp(
                                    (call.ct24() + PRIOR * mean) / (call.ecr24() + PRIOR) / mean,
                                    0.9,
                                    0.3)
                            : 0;
            score.setFields(
                    call.f0, call.f1, call.f2, fofir, url, acd, (2 * fofir + 3 * url + 3 * acd) / 8);
            return score;
        }

        private static double ramp(double x, double zero, double one) {
            return Math.min(Math.max((x - zero) / (one - zero), 0.0), 1.0);
        }
    }

    public double score() {
        return f6;
    }

    String row() {
        return digits(f0) + ',' + digits(f1) + ',' + Instant.ofEpochSecond(f2) + ',' + f3 + ','
                + f4 + ',' + f5 + ',' + f6;
    }

    private static String digits(long number) {
        return Long.toString(number).substring(1);
    }
}
