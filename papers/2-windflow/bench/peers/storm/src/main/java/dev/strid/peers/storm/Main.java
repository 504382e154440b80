// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.Driver;
import dev.strid.peers.Options;
import dev.strid.peers.PeerException;
import dev.strid.peers.Run;
import java.util.List;
import org.apache.storm.Config;
import org.apache.storm.LocalCluster;
import org.apache.storm.generated.KillOptions;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;
import org.apache.storm.utils.VersionInfo;

/**
 * Runs one application on Storm in this process; the options are those of {@link Driver}, and
 * --producer-batch, the records that a component hands on together (1 with --rate, otherwise 100).
 */
public final class Main {
    private static final List<Application<?>> APPLICATIONS =
            List.of(new FraudDetection(), new SpikeDetection(), new WordCount());

    private Main() {}

    /** How many replicas send to this one. */
    static int replicasBefore(TopologyContext context) {
        String before = context.getThisSources().keySet().iterator().next().get_componentId();
        return context.getComponentTasks(before).size();
    }

    private static Config settings(Options options) {
        Config settings = new Config();
        settings.setNumWorkers(1);
        settings.setNumAckers(0);
        settings.setNumEventLoggers(0);
        settings.setFallBackOnJavaSerialization(false);
        settings.put(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, true);
        settings.put(Config.TOPOLOGY_STATS_SAMPLE_RATE, 0.001);
        int batch = options.has("rate") ? 1 : 100;
        settings.put(Config.TOPOLOGY_PRODUCER_BATCH_SIZE, options.count("producer-batch", batch));
        return settings;
    }

    private static TopologyBuilder topology(Application<?> application, Options options,
            int sources, int sinks) {
        int parallelism = options.count("parallelism", 1);
        List<Stage<?, ?>> stages = application.stages(options);
        TopologyBuilder builder = new TopologyBuilder();
        String before = "source";
        builder.setSpout(before, new ReplaySpout(stages.get(0)), sources);
        for (int i = 0; i < stages.size(); ++i) {
            Stage<?, ?> next = i + 1 < stages.size() ? stages.get(i + 1) : null;
            String name = "stage" + i;
            BoltDeclarer bolt =
                    builder.setBolt(name, new StageBolt<>(stages.get(i), next), parallelism);
            bolt.allGrouping(before, Streams.END);
            if (i > 0 || application.keyedFirst()) {
                bolt.fieldsGrouping(before, Streams.RECORDS, new Fields(Streams.KEY));
            } else {
                bolt.localOrShuffleGrouping(before, Streams.RECORDS);
            }
            before = name;
        }
        builder.setBolt("sink", new SinkBolt(application), sinks)
                .allGrouping(before, Streams.END)
                .localOrShuffleGrouping(before, Streams.RECORDS);
        return builder;
    }

    private static <T> void drive(Application<T> application, Options options) throws Exception {
        List<T> records = application.read(options.file("input"), options);
        int parallelism = options.count("parallelism", 1);
        int[] runs = {0};
        try (LocalCluster cluster = new LocalCluster()) {
            Driver.drive(options, "storm", VersionInfo.getVersion(), plan -> {
                // One source and one sink keep the order, which answers depend on.
                int sources = plan.once() ? 1 : parallelism;
                int sinks = sources;
                var run = new Run<>(records, (record, round) -> record, plan, sources);
                var topology = topology(application, options, sources, sinks)
                        .createTopology();
                Config settings = settings(options);
                options.checkAllKnown();
                String name = "run" + ++runs[0];
                cluster.submitTopology(name, settings, topology);
                run.awaitSinks(sinks);
                KillOptions kill = new KillOptions();
                kill.set_wait_secs(0);
                cluster.killTopologyWithOpts(name, kill);
            });
        }
    }

    public static void main(String[] arguments) {
        Driver.main(arguments, options -> {
            for (Application<?> application : APPLICATIONS) {
                if (application.name().equals(options.application())) {
                    drive(application, options);
                    return;
                }
            }
            throw new PeerException("no application '" + options.application() + "' on Storm");
        });
    }
}
