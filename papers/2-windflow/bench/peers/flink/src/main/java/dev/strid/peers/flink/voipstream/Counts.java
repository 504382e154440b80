// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

/**
 * A decaying count by number of one shard, as a filter: lines of 16 cells, of which a number has
 * one in each quarter. A POJO of an array, so that Flink can serialize it without Kryo.
 */
public class Counts {
    private static final int LINE = 16;
    private static final int QUARTERS = 4;
    private static final float SMALLEST = 1e-6f;

    public float[] cells;

    public Counts() {}

    Counts(int lines) {
        cells = new float[lines * LINE];
    }

    float sum(long hash) {
        int line = lineOf(hash);
        float least = cells[line + cellOf(hash, 0)];
        for (int i = 1; i < QUARTERS; ++i) {
            least = Math.min(least, cells[line + cellOf(hash, i)]);
        }
        return least;
    }

    /** The sum behind it. */
    float add(long hash, double weighted) {
        float sum = (float) (sum(hash) + weighted);
        int line = lineOf(hash);
        for (int i = 0; i < QUARTERS; ++i) {
            int at = line + cellOf(hash, i);
            if (cells[at] < sum) cells[at] = sum;
        }
        return sum;
    }

    void scaleDown(double factor) {
        for (int i = 0; i < cells.length; ++i) {
            float scaled = (float) (cells[i] * factor);
            cells[i] = scaled < SMALLEST ? 0 : scaled;
        }
    }

    private int lineOf(long hash) {
        return (int) ((hash >>> 32) * (cells.length / LINE) >>> 32) * LINE;
    }

    private static int cellOf(long hash, int quarter) {
        return 4 * quarter + (int) (hash >>> 8 + 2 * quarter & 3);
    }
}
