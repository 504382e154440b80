// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.MovingAverage;
import dev.strid.peers.Options;
import dev.strid.peers.Reading;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;

/** The rules of spike-detection. */
final class SpikeDetection implements Application<Reading, Reading> {
    private static final int WINDOW = 1000;

    @Override
    public String name() {
        return "spike-detection";
    }

    @Override
    public TypeInformation<Reading> recordType() {
        return TypeInformation.of(Reading.class);
    }

    @Override
    public List<Reading> read(Path input, Options options) {
        return Reading.read(input);
    }

    @Override
    public DataStream<Reading> build(DataStream<Reading> readings, Options options) {
        double threshold = options.number("threshold", 0.25);
        return readings
                .keyBy(reading -> reading.device)
                .map(new Average())
                .filter(reading -> Reading.isSpike(reading.value, reading.mean, threshold));
    }

    @Override
    public String row(Reading spike) {
        return spike.row();
    }

    private static final class Average extends RichMapFunction<Reading, Reading> {
        private transient ValueState<MovingAverage> averages;
        private transient Reading result;

        @Override
        public void open(OpenContext context) {
            averages = getRuntimeContext().getState(
                    new ValueStateDescriptor<>("average", MovingAverage.class));
            result = new Reading();
        }

        @Override
        public Reading map(Reading reading) throws Exception {
            MovingAverage average = averages.value();
            if (average == null) {
                average = new MovingAverage(WINDOW);
                averages.update(average);  // the heap keeps this object: changed in place from here
            }
            result.device = reading.device;
            result.value = reading.value;
            result.mean = average.add(reading.value);
            return result;
        }
    }
}
