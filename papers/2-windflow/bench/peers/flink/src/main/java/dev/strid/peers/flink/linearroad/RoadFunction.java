// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Tolls and accidents of a road, by its reports in their order. Charges leave by a side output. The
 * state of a road is one value, changed in place: one look-up a report, where a MapState by car
 * would take two.
 */
public class RoadFunction extends KeyedProcessFunction<Integer, Event, Answer>
        implements Road.Teller {
    public static final OutputTag<Charge> CHARGES = new OutputTag<>("charges") {};

    private transient ValueState<Road> roads;
    private transient Answer answer;
    private transient Charge charge;
    private transient Context context;
    private transient Collector<Answer> out;
    private transient long timestamp;

    @Override
    public void open(OpenContext unused) {
        roads = getRuntimeContext().getState(new ValueStateDescriptor<>("road", Road.class));
        answer = new Answer();
        charge = new Charge();
    }

    @Override
    public void processElement(Event event, Context context, Collector<Answer> out)
            throws Exception {
        this.context = context;
        this.out = out;
        Long timestamp = context.timestamp();
        this.timestamp = timestamp == null ? 0 : timestamp;
        Road road = roads.value();
        if (road == null) {
            road = new Road();
            roads.update(road);
        }
        road.report(event, this);
    }

    @Override
    public void charge(int car, int time, long toll) {
        charge.setFields(car, time, toll);
        context.output(CHARGES, charge);
    }

    @Override
    public void toll(int car, int time, int velocity, long toll) {
        answer.setFields(Answer.TOLL, time, car, velocity, toll, timestamp);
        out.collect(answer);
    }

    @Override
    public void accident(int car, int time, int segment) {
        answer.setFields(Answer.ACCIDENT, time, car, segment, 0L, timestamp);
        out.collect(answer);
    }
}
