// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.trafficmonitoring;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Road, mean speed and fixes so far: after each match, or once at the end. */
final class Speeds extends KeyedProcessFunction<Long, Tuple2<Long, Double>,
        Tuple3<Long, Double, Long>> {
    /** The speeds of a road. */
    public static class Sum {
        public double speeds;
        public long count;
    }

    private final boolean updates;
    private transient ValueState<Sum> sums;
    private transient Tuple3<Long, Double, Long> result;

    Speeds(boolean updates) {
        this.updates = updates;
    }

    @Override
    public void open(OpenContext context) {
        sums = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Sum.class));
        result = new Tuple3<>();
    }

    @Override
    public void processElement(Tuple2<Long, Double> match, Context context,
            Collector<Tuple3<Long, Double, Long>> output) throws Exception {
        Sum sum = sums.value();
        if (sum == null) {
            sum = new Sum();
            sums.update(sum); // the heap keeps this object: changed in place from here
            // Flink ends a stream with the greatest watermark.
            if (!updates) context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
        }
        sum.speeds += match.f1;
        ++sum.count;
        if (updates) emit(match.f0, sum, output);
    }

    @Override
    public void onTimer(long time, OnTimerContext context,
            Collector<Tuple3<Long, Double, Long>> output) throws Exception {
        emit(context.getCurrentKey(), sums.value(), output);
    }

    private void emit(Long road, Sum sum, Collector<Tuple3<Long, Double, Long>> output) {
        result.setFields(road, sum.speeds / sum.count, sum.count);
        output.collect(result);
    }
}
