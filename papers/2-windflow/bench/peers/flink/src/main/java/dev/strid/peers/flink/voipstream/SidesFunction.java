// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.util.Collector;

/**
 * Draws what depends on the order of all calls, `now` and the mean duration, and makes the two
 * sides of each established call. It has one instance, chained to the source, as its state is that
 * of all calls.
 */
public class SidesFunction implements FlatMapFunction<Call, Side> {
    private static final long NONE = Long.MIN_VALUE;

    private final Settings settings;
    private final Side side = new Side();
    private long now = NONE;
    private long before = NONE; // `now` at the established call before
    private double talked;
    private double calls;

    public SidesFunction(Settings settings) {
        this.settings = settings;
    }

    @Override
    public void flatMap(Call call, Collector<Side> out) {
        if (now != NONE && call.start() > now + settings.jumpSeconds()) return;
        now = Math.max(now, call.start());
        if (!call.established()) return;
        double mean = mean(call);
        byte shardOfCalled = Hashes.shardOf(Hashes.mix(call.called()));
        side.setFields(shardOfCalled, false, call.f0, call.f1, call.f2, call.f3, now, mean);
        out.collect(side);
        byte shardOfCalling = Hashes.shardOf(Hashes.mix(call.calling()));
        side.setFields(shardOfCalling, true, call.f0, call.f1, call.f2, call.f3, now, mean);
        out.collect(side);
    }

    private double mean(Call call) {
        if (before != NONE && now != before) {
            double gone = Math.exp(-(double) (now - before) / settings.longSeconds());
            talked *= gone;
            calls *= gone;
        }
        before = now;
        double weight =
                call.start() == now
                        ? 1
                        : Math.exp(-(double) (now - call.start()) / settings.longSeconds());
        talked += call.duration() * weight;
        calls += weight;
        return talked / calls;
    }
}
