// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;
import java.util.Arrays;

/**
 * The mean of the last values of a device, as spike-detection/moving_average.hpp keeps it. The
 * sum is added up afresh once a round of the ring, and when a value leaves that was far larger than
 * what stays, so that rounding does not pile up.
 */
public final class MovingAverage implements Serializable {
    private static final double CANCELLATION = 256;

    public double[] values = new double[0];
    public int size;
    public int next;
    public double sum;

    public MovingAverage() {}

    public MovingAverage(int window) {
        values = new double[window];
    }

    /** The mean with the value. */
    public double add(double value) {
        if (size < values.length) {
            values[size++] = value;
            sum += value;
            return sum / size;
        }
        double oldest = values[next];
        values[next] = value;
        if (++next == size) next = 0;
        sum += value - oldest;
        if (next == 0 || Math.abs(oldest) > CANCELLATION * Math.abs(sum)) {
            sum = Arrays.stream(values).sum();
        }
        return sum / size;
    }
}
