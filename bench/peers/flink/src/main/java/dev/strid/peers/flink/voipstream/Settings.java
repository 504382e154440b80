// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import dev.strid.peers.Options;
import java.io.Serializable;

/** The options of the application; its defaults are those of strid's. */
public record Settings(
        int numbers,
        int pairs,
        int shortSeconds,
        int longSeconds,
        int memorySeconds,
        int jumpSeconds,
        double threshold)
        implements Serializable {
    private static final int HOUR = 3600;

    static Settings of(Options options) {
        return new Settings(
                options.count("numbers", 100_000),
                options.count("pairs", 1_000_000),
                options.count("short", 6 * HOUR),
                options.count("long", 24 * HOUR),
                options.count("memory", 7 * 24 * HOUR),
                options.count("jump", 30 * 24 * HOUR),
                options.number("threshold", 0));
    }
}
