// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;

/**
 * Scores the last five states of an account, by the tables of fraud-detection/predictor.hpp:
 * each score is a sum of parts over the four transitions, over a sum of wholes.
 */
public final class Scorer implements Serializable {
    private static final int RECORDS = 5;

    /** What is kept of an account: the last four transitions, 16 bits each, the newest lowest. */
    public static final class Sequence implements Serializable {
        public long transitions;
        public int lastState;
        public int known;
    }

    private final int states;
    private final double threshold;
    private final double[] parts;
    private final double[] wholes;

    /** Of the options --model, --score and --threshold. */
    public Scorer(MarkovModel model, Options options) {
        states = model.states();
        threshold = options.number("threshold", 0.96);
        String score = options.text("score", "miss-probability");
        parts = new double[states * states];
        wholes = new double[states * states];
        for (int before = 0; before < states; ++before) {
            double[] row = model.row(before);
            for (int came = 0; came < states; ++came) {
                parts[before * states + came] = part(row, came, score);
                wholes[before * states + came] = whole(row, score);
            }
        }
    }

    /** The score with the new state where it exceeds the threshold, otherwise not a number. */
    public double score(Sequence sequence, int state) {
        int transition = sequence.lastState * states + state;
        sequence.transitions = sequence.transitions << 16 | transition;
        sequence.lastState = state;
        if (sequence.known < RECORDS && ++sequence.known < RECORDS) return Double.NaN;
        double part = 0;
        double whole = 0;
        long left = sequence.transitions;
        for (int i = 0; i + 1 < RECORDS; ++i, left >>>= 16) {
            part += parts[(int) (left & 0xffff)];
            whole += wholes[(int) (left & 0xffff)];
        }
        double score = part / whole;
        return score > threshold ? score : Double.NaN;
    }

    private static double part(double[] row, int came, String score) {
        if (score.equals("miss-rate")) {
            int likeliest = 0;
            for (int i = 1; i < row.length; ++i) {
                if (row[i] > row[likeliest]) likeliest = i;
            }
            return came == likeliest ? 0 : 1;
        }
        double part = 0;
        for (int i = 0; i < row.length; ++i) {
            if (i != came) part += score.equals("miss-probability") ? row[i] : entropy(row[i]);
        }
        return part;
    }

    private static double whole(double[] row, String score) {
        switch (score) {
            case "miss-probability", "miss-rate" -> {
                return 1;
            }
            case "entropy-reduction" -> {
                double whole = 0;
                for (double probability : row) whole += entropy(probability);
                return whole;
            }
            default -> throw new PeerException("--score: '" + score + "' is not a score");
        }
    }

    private static double entropy(double probability) {
        return probability > 0 ? -probability * Math.log(probability) : 0;
    }
}
