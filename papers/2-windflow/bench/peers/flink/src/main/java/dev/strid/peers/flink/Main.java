// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.Driver;
import dev.strid.peers.Options;
import dev.strid.peers.Run;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Runs one application on Flink in this process; the options are those of {@link Driver}. */
public final class Main {
    private final MiniCluster cluster;
    private final Configuration settings;
    private final Options options;

    private Main(Options options) throws Exception {
        this.options = options;
        int parallelism = options.count("parallelism", 1);
        Map<String, String> values = new HashMap<>();
        values.put("parallelism.default", Integer.toString(parallelism));
        values.put("pipeline.object-reuse", Boolean.toString(!options.has("no-object-reuse")));
        values.put("pipeline.generic-types", "false");
        values.put("pipeline.operator-chaining.enabled",
                Boolean.toString(!options.has("no-chaining")));
        values.put("execution.buffer-timeout.interval", options.text("buffer-timeout", "100 ms"));
        values.put("restart-strategy.type", "none");
        values.put("state.backend.type", "hashmap");
        values.put("rest.port", "0");
        values.put("rest.bind-port", "0");
        settings = Configuration.fromMap(values);
        cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(parallelism)
                .build());
        cluster.start();
    }

    private <T, R> JobExecutionResult run(Application<T, R> application, List<T> records,
            Run.Plan plan) throws Exception {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(settings);
        // One source keeps the order of the input, which answers depend on.
        int sources = plan.once() ? 1 : application.sources(environment.getParallelism());
        new Run<>(records, application::again, application::source, application.pace(options), plan,
                sources);
        DataStream<T> source = environment
                .fromSource(new ReplaySource<T>(), WatermarkStrategy.noWatermarks(), "source",
                        application.recordType())
                .setParallelism(sources);
        for (DataStream<R> results : application.branches(source, options)) {
            results.process(new ResultSink<>(application), Types.VOID).name("sink");
        }
        options.checkAllKnown();
        return cluster.executeJobBlocking(environment.getStreamGraph().getJobGraph());
    }

    private static <T, R> void drive(Application<T, R> application, Options options)
            throws Exception {
        Driver.checkLatency(options, application.keepsTimestamps());
        List<T> records = application.read(options.file("input"), options);
        Main main = new Main(options);
        try (MiniCluster ignored = main.cluster) {
            Driver.drive(options, "flink", EnvironmentInformation.getVersion(),
                    plan -> main.run(application, records, plan));
        }
    }

    public static void main(String[] arguments) {
        Driver.main(arguments,
                options -> drive(Applications.find(options.application()), options));
    }
}
