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
    static Settings of(Options options) {
        return new Settings(
                options.count("numbers", 100_000),
                options.count("pairs", 1_000_000),
                seconds(options, "short", "6h"),
                seconds(options, "long", "24h"),
                seconds(options, "memory", "168h"),
                seconds(options, "jump", "720h"),
                options.number("threshold", 0));
    }

    private static int seconds(Options options, String name, String otherwise) {
        return (int) Math.max(1, options.duration(name, otherwise) / 1_000_000_000);
    }
}
