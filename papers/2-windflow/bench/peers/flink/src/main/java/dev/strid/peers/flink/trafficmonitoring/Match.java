// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.trafficmonitoring;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.metrics.Counter;
import org.apache.flink.util.Collector;

/** Road and speed of a fix; fixes off every road are counted. */
final class Match extends RichFlatMapFunction<Fix, Tuple2<Long, Double>> {
    private final RoadIndex.Settings settings;
    private transient RoadIndex index;
    private transient Tuple2<Long, Double> match;
    private transient Counter offRoad;

    Match(RoadIndex.Settings settings) {
        this.settings = settings;
    }

    @Override
    public void open(OpenContext context) {
        index = RoadIndex.of(settings);
        match = new Tuple2<>();
        offRoad = getRuntimeContext().getMetricGroup().counter("off every road");
    }

    @Override
    public void flatMap(Fix fix, Collector<Tuple2<Long, Double>> output) {
        long road = index.nearest(fix);
        if (road == RoadIndex.NONE) {
            offRoad.inc();
            return;
        }
        match.setFields(road, fix.speed);
        output.collect(match);
    }
}
