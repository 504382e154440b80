// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;

/** Counts the results, keeps the rows of a run that is checked, measures latencies at a rate. */
final class SinkBolt extends BaseRichBolt {
    private final Application<?> application;
    private transient Run<?> run;
    private transient long results;
    private transient Histogram latenciesNs;
    private transient List<String> rows;
    private transient int inputs;

    SinkBolt(Application<?> application) {
        this.application = application;
    }

    @Override
    public void prepare(Map<String, Object> settings, TopologyContext context,
            OutputCollector collector) {
        run = Run.current();
        if (run.plan().ratePerSecond() > 0) latenciesNs = new Histogram(2);
        if (run.plan().once()) rows = new ArrayList<>();
        inputs = Main.replicasBefore(context);
    }

    @Override
    public void execute(Tuple tuple) {
        if (tuple.getSourceStreamId().equals(Streams.RECORDS)) {
            ++results;
            if (latenciesNs != null) {
                latenciesNs.recordValue(Math.max(0, System.nanoTime() - tuple.getLong(2)));
            }
            if (rows != null) rows.add(application.row(tuple.getValue(1)));
        } else if (--inputs == 0) {
            run.sinkEnded(results, latenciesNs, rows);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {}
}
