// SPDX-License-Identifier: Apache-2.0
package porting;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Readings by sensor in windows of ten seconds, every five, the readings that are late for them,
 * and the sensors without a window for thirty seconds; the program of docs/porting-from-flink.md as
 * it is before it is ported. It prints a row for each: {@code window,...}, {@code late,...},
 * {@code silent,...}.
 */
public final class Readings {
    private static final long SILENT_MS = 30_000;
    private static final OutputTag<Reading> LATE = new OutputTag<>("late") {};

    /** A row of milliseconds, sensor and value. */
    public static final class Reading {
        public long ms;
        public int sensor;
        public long value;

        static Reading parse(String line) {
            String[] fields = line.split(",");
            Reading reading = new Reading();
            reading.ms = Long.parseLong(fields[0]);
            reading.sensor = Integer.parseInt(fields[1]);
            reading.value = Long.parseLong(fields[2]);
            return reading;
        }
    }

    /** The state of a window, then with its sensor and bounds the result. */
    public static final class Total {
        public long startMs;
        public long endMs;
        public int sensor;
        public long readings;
        public long sum;
    }

    /** A watermark behind each record, so that the same readings are late in every run. */
    private static final class OneSecondBehind implements WatermarkGenerator<Reading> {
        private long latest = Long.MIN_VALUE;

        @Override
        public void onEvent(Reading reading, long timestamp, WatermarkOutput output) {
            if (timestamp > latest) {
                latest = timestamp;
                output.emitWatermark(new Watermark(latest - 1_000 - 1));
            }
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    private static final class Add implements AggregateFunction<Reading, Total, Total> {
        @Override
        public Total createAccumulator() {
            return new Total();
        }

        @Override
        public Total add(Reading reading, Total total) {
            ++total.readings;
            total.sum += reading.value;
            return total;
        }

        @Override
        public Total getResult(Total total) {
            return total;
        }

        @Override
        public Total merge(Total a, Total b) {
            a.readings += b.readings;
            a.sum += b.sum;
            return a;
        }
    }

    private static final class WithBounds
            extends ProcessWindowFunction<Total, Total, Integer, TimeWindow> {
        @Override
        public void process(
                Integer sensor, Context context, Iterable<Total> totals, Collector<Total> out) {
            Total total = totals.iterator().next();
            total.startMs = context.window().getStart();
            total.endMs = context.window().getEnd();
            total.sensor = sensor;
            out.collect(total);
        }
    }

    private static final class Silence extends KeyedProcessFunction<Integer, Total, String> {
        private transient ValueState<Long> due;

        @Override
        public void open(OpenContext context) {
            due = getRuntimeContext().getState(new ValueStateDescriptor<>("due", Types.LONG));
        }

        @Override
        public void processElement(Total total, Context context, Collector<String> out)
                throws Exception {
            Long before = due.value();
            if (before != null) {
                if (total.endMs >= before) {
                    out.collect("silent," + before + "," + total.sensor);
                }
                context.timerService().deleteEventTimeTimer(before);
            }
            long next = total.endMs + SILENT_MS;
            due.update(next);
            context.timerService().registerEventTimeTimer(next);
        }

        @Override
        public void onTimer(long time, OnTimerContext context, Collector<String> out) {
            out.collect("silent," + time + "," + context.getCurrentKey());
            due.clear();
        }
    }

    public static void main(String[] arguments) throws Exception {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(2);
        SingleOutputStreamOperator<Total> totals =
                environment
                        .readTextFile(arguments[0])
                        .setParallelism(1)
                        .map(Reading::parse)
                        .setParallelism(1)
                        .assignTimestampsAndWatermarks(
                                WatermarkStrategy.<Reading>forGenerator(c -> new OneSecondBehind())
                                        .withTimestampAssigner((reading, before) -> reading.ms))
                        .setParallelism(1)
                        .filter(reading -> reading.value >= 0)
                        .setParallelism(1)
                        .keyBy(reading -> reading.sensor)
                        .window(
                                SlidingEventTimeWindows.of(
                                        Duration.ofSeconds(10), Duration.ofSeconds(5)))
                        .sideOutputLateData(LATE)
                        .aggregate(new Add(), new WithBounds());
        totals.map(t -> "window," + t.startMs + "," + t.sensor + "," + t.readings + "," + t.sum)
                .print()
                .setParallelism(1);
        totals.getSideOutput(LATE)
                .map(late -> "late," + late.ms + "," + late.sensor + "," + late.value)
                .print()
                .setParallelism(1);
        totals.keyBy(total -> total.sensor).process(new Silence()).print().setParallelism(1);
        environment.execute("readings");
    }
}
