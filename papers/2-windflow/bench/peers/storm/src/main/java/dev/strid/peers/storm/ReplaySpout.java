// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.Run;
import dev.strid.peers.Share;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Values;

/** Emits its share of the current {@link Run}, then the end. */
final class ReplaySpout extends BaseRichSpout {
    private static final int RECORDS_A_CALL = 32;
    private static final long IDLE_NS = 1_000_000;

    private final Stage<?, ?> next;
    private transient Share<Object> share;
    private transient SpoutOutputCollector collector;
    private transient boolean ended;

    ReplaySpout(Stage<?, ?> next) {
        this.next = next;
    }

    @Override
    public void open(Map<String, Object> settings, TopologyContext context,
            SpoutOutputCollector collector) {
        this.collector = collector;
        share = Run.current().share(context.getThisTaskIndex());
    }

    @Override
    public void nextTuple() {
        if (ended) {
            LockSupport.parkNanos(IDLE_NS);
            return;
        }
        try {
            boolean more = share.poll(RECORDS_A_CALL, (record, dueNs) ->
                    collector.emit(Streams.RECORDS, Streams.record(next, record, dueNs)));
            if (more) return;
            ended = true;
            collector.emit(Streams.END, new Values(0));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        Streams.declare(declarer);
    }
}
