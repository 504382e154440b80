// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.PeerException;
import dev.strid.peers.flink.linearroad.LinearRoad;
import dev.strid.peers.flink.trafficmonitoring.TrafficMonitoring;
import dev.strid.peers.flink.voipstream.VoipStream;
import java.util.List;

/** The applications by name. */
final class Applications {
    private static final List<Application<?, ?>> ALL = List.of(
            new FraudDetection(),
            new SpikeDetection(),
            new WordCount(),
            new YahooBenchmark(),
            new TrafficMonitoring(),
            new LinearRoad(),
            new VoipStream());

    private Applications() {}

    static Application<?, ?> find(String name) {
        for (Application<?, ?> application : ALL) {
            if (application.name().equals(name)) return application;
        }
        throw new PeerException("no application '" + name + "'; there are "
                + String.join(", ", ALL.stream().map(Application::name).toList()));
    }
}
