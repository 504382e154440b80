// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.Run;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/**
 * The end of a job: counts the results, keeps the rows of a run that is checked, and measures
 * latencies of one at a rate. A function without results, as sinks have an interface for 1.20 and
 * another for 2.x.
 */
final class ResultSink<R> extends ProcessFunction<R, Void> {
    private final Application<?, R> application;

    private transient Run<?> run;
    private transient long results;
    private transient Histogram latenciesNs;
    private transient List<String> rows;

    ResultSink(Application<?, R> application) {
        this.application = application;
    }

    @Override
    public void open(OpenContext context) {
        run = Run.current();
        if (run.plan().measures()) latenciesNs = new Histogram(2);
        if (run.plan().once()) rows = new ArrayList<>();
    }

    @Override
    public void processElement(R result, Context context, Collector<Void> output) {
        ++results;
        if (latenciesNs != null) {
            long dueNs = application.dueNs(result, context.timestamp());
            latenciesNs.recordValue(Math.max(0, System.nanoTime() - dueNs));
        }
        if (rows != null) rows.add(application.row(result));
    }

    @Override
    public void close() {
        if (run != null) run.sinkEnded(results, latenciesNs, rows);
    }
}
