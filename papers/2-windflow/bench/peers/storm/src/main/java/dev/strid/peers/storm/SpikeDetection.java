// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.MovingAverage;
import dev.strid.peers.Options;
import dev.strid.peers.Reading;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The rules of spike-detection; mean and decision in one bolt, as Storm does not chain. */
final class SpikeDetection implements Application<Reading> {
    private static final int WINDOW = 1000;

    @Override
    public String name() {
        return "spike-detection";
    }

    @Override
    public List<Reading> read(Path input, Options options) {
        return Reading.read(input);
    }

    @Override
    public List<Stage<?, ?>> stages(Options options) {
        return List.of(new Spikes(options.number("threshold", 0.25)));
    }

    @Override
    public String row(Object result) {
        return ((Reading) result).row();
    }

    private static final class Spikes implements Stage<Reading, Reading> {
        private final double threshold;
        private final Map<Long, MovingAverage> averages = new HashMap<>();

        Spikes(double threshold) {
            this.threshold = threshold;
        }

        @Override
        public Object key(Reading reading) {
            return reading.device;
        }

        @Override
        public void process(Reading reading, Consumer<Reading> output) {
            double mean = averages
                    .computeIfAbsent(reading.device, device -> new MovingAverage(WINDOW))
                    .add(reading.value);
            if (Reading.isSpike(reading.value, mean, threshold)) {
                output.accept(new Reading(reading.device, reading.value, mean));
            }
        }
    }
}
