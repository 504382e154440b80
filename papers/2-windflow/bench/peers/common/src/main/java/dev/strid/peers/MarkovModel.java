// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.nio.file.Path;
import java.util.List;

/** The states of transactions, and how likely one follows another (fraud-detection). */
public final class MarkovModel {
    private final List<String> states;
    private final double[][] probabilities;

    /** States in the first line, then one line of probabilities a state. */
    public MarkovModel(Path file) {
        List<String> lines = Input.lines(file);
        if (lines.isEmpty()) throw new PeerException(file + ", line 1: no states");
        states = List.of(lines.get(0).split(","));
        probabilities = new double[states.size()][states.size()];
        for (int row = 0; row < states.size(); ++row) {
            String[] cells = row + 1 < lines.size() ? lines.get(row + 1).split(",") : new String[0];
            if (cells.length != states.size()) {
                throw new PeerException(file + ", line " + (row + 2) + ": " + cells.length
                        + " probabilities for " + states.size() + " states");
            }
            for (int i = 0; i < cells.length; ++i) {
                probabilities[row][i] = Double.parseDouble(cells[i]);
            }
        }
    }

    public int states() {
        return states.size();
    }

    public double[] row(int state) {
        return probabilities[state];
    }

    public int number(String state) {
        int number = states.indexOf(state);
        if (number < 0) throw new IllegalArgumentException("unknown state '" + state + "'");
        return number;
    }
}
