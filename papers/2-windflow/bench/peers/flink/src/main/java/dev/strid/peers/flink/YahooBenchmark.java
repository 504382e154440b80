// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.AdEvent;
import dev.strid.peers.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** The rules of yahoo-benchmark. */
final class YahooBenchmark implements Application<AdEvent, Tuple4<Long, Long, Long, Long>> {
    private long againMs;

    @Override
    public String name() {
        return "yahoo-benchmark";
    }

    @Override
    public TypeInformation<AdEvent> recordType() {
        return TypeInformation.of(AdEvent.class);
    }

    @Override
    public List<AdEvent> read(Path input, Options options) {
        List<AdEvent> events = AdEvent.read(input);
        againMs = AdEvent.spanMs(events);
        return events;
    }

    /** Times go on from round to round. */
    @Override
    public AdEvent again(AdEvent event, long round) {
        return event.later(round * againMs);
    }

    @Override
    public boolean keepsTimestamps() {
        return false;
    }

    @Override
    public DataStream<Tuple4<Long, Long, Long, Long>> build(DataStream<AdEvent> events,
            Options options) {
        Map<Long, Long> campaigns = AdEvent.readCampaigns(options.file("campaigns"));
        long windowMs = options.duration("window", "10s") / 1_000_000;
        long disorderMs = options.duration("disorder", "1s") / 1_000_000;
        // Up to the watermark as many instances as sources, chained to them: what is late then
        // follows from the order of the input.
        int sources = events.getParallelism();
        return events
                .filter(event -> event.eventType.equals("view")).setParallelism(sources)
                .map(event -> Tuple2.of(event.ad, event.timeMs)).setParallelism(sources)
                .returns(Types.TUPLE(Types.LONG, Types.LONG))
                .flatMap(new Join(campaigns)).setParallelism(sources)
                .assignTimestampsAndWatermarks(WatermarkStrategy
                        .<Tuple2<Long, Long>>forGenerator(
                                context -> new WindowWatermarks(windowMs, disorderMs))
                        .withTimestampAssigner((view, before) -> view.f1))
                .setParallelism(sources)
                .keyBy(view -> view.f0, Types.LONG)
                .window(TumblingEventTimeWindows.of(Duration.ofMillis(windowMs)))
                .aggregate(new Count(), new Row(), Types.LONG, Types.LONG,
                        Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG));
    }

    @Override
    public String row(Tuple4<Long, Long, Long, Long> count) {
        return count.f0 + "," + count.f1 + ',' + count.f2 + ',' + count.f3;
    }

    /** The campaign in place of the ad; views of other ads are left out. */
    private static final class Join
            extends RichFlatMapFunction<Tuple2<Long, Long>, Tuple2<Long, Long>> {
        private final Map<Long, Long> campaigns;

        Join(Map<Long, Long> campaigns) {
            this.campaigns = campaigns;
        }

        @Override
        public void flatMap(Tuple2<Long, Long> view, Collector<Tuple2<Long, Long>> output) {
            Long campaign = campaigns.get(view.f0);
            if (campaign == null) return;
            view.f0 = campaign;
            output.collect(view);
        }
    }

    /**
     * A view lies at most the disorder behind the latest before it. Which views are late follows
     * from the input alone, as the watermark rises with the view and not with a clock; it is sent
     * where it ends a window, which gives the same windows as one after each view.
     */
    private static final class WindowWatermarks implements WatermarkGenerator<Tuple2<Long, Long>> {
        private final long windowMs;
        private final long disorderMs;
        private long nextMs = Long.MIN_VALUE;

        WindowWatermarks(long windowMs, long disorderMs) {
            this.windowMs = windowMs;
            this.disorderMs = disorderMs;
        }

        @Override
        public void onEvent(Tuple2<Long, Long> view, long timeMs, WatermarkOutput output) {
            long overMs = timeMs - disorderMs;  // windows that end by then are over
            if (overMs < nextMs) return;
            long endMs = Math.floorDiv(overMs, windowMs) * windowMs;
            output.emitWatermark(new Watermark(endMs - 1));
            nextMs = endMs + windowMs;
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    private static final class Count
            implements AggregateFunction<Tuple2<Long, Long>, Long, Long> {
        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Tuple2<Long, Long> view, Long count) {
            return count + 1;
        }

        @Override
        public Long getResult(Long count) {
            return count;
        }

        @Override
        public Long merge(Long a, Long b) {
            return a + b;
        }
    }

    private static final class Row extends
            ProcessWindowFunction<Long, Tuple4<Long, Long, Long, Long>, Long, TimeWindow> {
        @Override
        public void process(Long campaign, Context context, Iterable<Long> counts,
                Collector<Tuple4<Long, Long, Long, Long>> output) {
            output.collect(Tuple4.of(campaign, context.window().getStart(),
                    context.window().getEnd(), counts.iterator().next()));
        }
    }
}
