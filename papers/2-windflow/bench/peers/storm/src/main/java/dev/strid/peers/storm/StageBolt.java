// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/** Runs a {@link Stage}: its results carry the time of the record that caused them. */
final class StageBolt<I, O> extends BaseRichBolt {
    private final Stage<I, O> stage;
    private final Stage<?, ?> next;
    private transient OutputCollector collector;
    private transient Consumer<O> output;
    private transient Long dueNs;
    private transient int inputs;

    StageBolt(Stage<I, O> stage, Stage<?, ?> next) {
        this.stage = stage;
        this.next = next;
    }

    @Override
    public void prepare(Map<String, Object> settings, TopologyContext context,
            OutputCollector collector) {
        this.collector = collector;
        dueNs = 0L;
        inputs = Main.replicasBefore(context);
        output = result ->
                collector.emit(Streams.RECORDS, Streams.record(next, result, dueNs));
    }

    @Override
    @SuppressWarnings("unchecked")
    public void execute(Tuple tuple) {
        if (tuple.getSourceStreamId().equals(Streams.RECORDS)) {
            dueNs = tuple.getLong(2);
            stage.process((I) tuple.getValue(1), output);
        } else if (--inputs == 0) {
            stage.end(output);
            collector.emit(Streams.END, new Values(0));
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        Streams.declare(declarer);
    }
}
