// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;

/** What a sensor measured; with its mean where that is known. */
public final class Reading implements Serializable {
    public long device;
    public double value;
    public double mean;

    public Reading() {}

    public Reading(long device, double value, double mean) {
        this.device = device;
        this.value = value;
        this.mean = mean;
    }

    /** Rows of device,value. */
    public static List<Reading> read(Path file) {
        return Input.csv(file, 2, cells -> new Reading(
                Long.parseUnsignedLong(cells[0]), Double.parseDouble(cells[1]), 0));
    }

    public static boolean isSpike(double value, double mean, double threshold) {
        return Math.abs(value - mean) > threshold * mean;
    }

    public String row() {
        return Long.toUnsignedString(device) + ',' + value + ',' + mean;
    }
}
