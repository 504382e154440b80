// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Steps 1 and 3 to 7 of voip-stream/README.md. Keyed by shard, whose calls are in order. */
public class FeaturesFunction extends KeyedProcessFunction<Integer, Side, Features> {
    private final Settings settings;
    private transient ValueState<Shard> shards;
    private transient Features features;

    public FeaturesFunction(Settings settings) {
        this.settings = settings;
    }

    @Override
    public void open(OpenContext unused) {
        shards = getRuntimeContext().getState(new ValueStateDescriptor<>("shard", Shard.class));
        features = new Features();
    }

    @Override
    public void processElement(Side side, Context context, Collector<Features> out)
            throws Exception {
        Shard shard = shards.value();
        if (shard == null) {
            shard = new Shard(settings);
            shards.update(shard);
        }
        shard.advance(side.now());
        double weightShort = shard.shortDecay.weight(side.start());
        long called = Hashes.mix(side.called());
        if (!side.isOfCaller()) {
            shard.received.add(called, weightShort);
            return;
        }
        long calling = Hashes.mix(side.calling());
        double nowShort = shard.shortDecay.weightNow;
        double nowLong = shard.longDecay.weightNow;
        double weightLong = shard.longDecay.weight(side.start());
        boolean isNew =
                shard.pairs.isNew(
                        Hashes.ofPair(calling, called), side.now(), settings.memorySeconds());
        double rcr = shard.received.sum(calling) / nowShort;
        double ct24 = shard.talk.add(calling, side.duration() * weightLong) / nowLong;
        double ecr24 = shard.day.add(calling, weightLong) / nowLong;
        double ecr = shard.calls.add(calling, weightShort) / nowShort;
        float fresh =
                isNew
                        ? shard.fresh.add(calling, weightShort)
                        : shard.fresh.sum(calling);
        features.setFields(
                side.f2, side.f3, side.f4, rcr, ct24, ecr24, ecr, fresh / nowShort, side.f7);
        out.collect(features);
    }
}
