// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.trafficmonitoring;

import dev.strid.peers.Input;
import dev.strid.peers.Options;
import dev.strid.peers.PeerException;
import dev.strid.peers.flink.Application;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;

/** The rules of traffic-monitoring, with the nearest road of each fix. */
public final class TrafficMonitoring implements Application<Fix, Tuple3<Long, Double, Long>> {
    @Override
    public String name() {
        return "traffic-monitoring";
    }

    @Override
    public TypeInformation<Fix> recordType() {
        return TypeInformation.of(Fix.class);
    }

    /** Columns as in `strid run`: vehicle, latitude, longitude, speed, bearing, from 1. */
    @Override
    public List<Fix> read(Path input, Options options) {
        int[] columns = Arrays.stream(options.text("columns", "1,2,3,4,5").split(","))
                .mapToInt(column -> Integer.parseInt(column) - 1)
                .toArray();
        if (columns.length != 5) throw new PeerException("--columns: 5 numbers are needed");
        List<Fix> fixes = new ArrayList<>();
        long number = 0;
        for (String line : Input.lines(input)) {
            ++number;
            String[] cells = line.split(",", -1);
            try {
                fixes.add(new Fix(
                        Double.parseDouble(cells[columns[1]]),
                        Double.parseDouble(cells[columns[2]]),
                        Double.parseDouble(cells[columns[3]]),
                        Double.parseDouble(cells[columns[4]])));
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
                throw new PeerException(input + ", line " + number + ": " + e.getMessage());
            }
        }
        return fixes;
    }

    @Override
    public DataStream<Tuple3<Long, Double, Long>> build(DataStream<Fix> fixes, Options options) {
        String emit = options.text("emit", "updates");
        if (!emit.equals("final") && !emit.equals("updates")) {
            throw new PeerException("--emit: '" + emit + "' is neither final nor updates");
        }
        RoadIndex.Settings settings = new RoadIndex.Settings(
                options.file("roads").toString(),
                options.number("tolerance", 50),
                options.number("bearing-tolerance", 45));
        return fixes
                .flatMap(new Match(settings))
                .setParallelism(fixes.getParallelism()) // chained: the order of the input stays
                .returns(Types.TUPLE(Types.LONG, Types.DOUBLE))
                .keyBy(match -> match.f0, Types.LONG)
                .process(new Speeds(emit.equals("updates")))
                .returns(Types.TUPLE(Types.LONG, Types.DOUBLE, Types.LONG));
    }

    @Override
    public String row(Tuple3<Long, Double, Long> speed) {
        return speed.f0 + "," + speed.f1 + ',' + speed.f2;
    }
}
