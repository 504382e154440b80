// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import dev.strid.peers.Input;
import dev.strid.peers.Options;
import dev.strid.peers.PeerException;
import dev.strid.peers.Run;
import dev.strid.peers.flink.Application;
import dev.strid.peers.flink.EvenKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/** The rules of linear-road. */
public final class LinearRoad implements Application<Event, Answer> {
    private static final int CARS_OF_EXPRESSWAY = 1_000_000;

    private int span; // seconds of a round

    @Override
    public String name() {
        return "linear-road";
    }

    @Override
    public TypeInformation<Event> recordType() {
        return TypeInformation.of(Event.class);
    }

    @Override
    public List<Event> read(Path input, Options options) {
        List<Event> events = new ArrayList<>();
        for (String line : Input.lines(input)) {
            try {
                events.add(Event.parse(line));
            } catch (IllegalArgumentException e) {
                throw new PeerException(
                        input + ", line " + (events.size() + 1) + ": " + e.getMessage());
            }
        }
        span = events.isEmpty() ? 0 : (events.get(events.size() - 1).time() / 60 + 1) * 60;
        return events;
    }

    /** A later round goes on in the minute behind the last one of the round before. */
    @Override
    public Event again(Event event, long round) {
        Event later = new Event();
        event.copyTo(later, event.time() + (int) (round * span), event.car(), event.expressway());
        return later;
    }

    /** All reports of a road come by one source, in their order. */
    @Override
    public int source(Event event, long number, int sources) {
        return (event.kind() == Event.POSITION ? event.expressway() : event.car()) % sources;
    }

    @Override
    public DataStream<Answer> build(DataStream<Event> events, Options options) {
        List<DataStream<Answer>> branches = branches(events, options);
        return branches.get(0).union(branches.get(1), branches.get(2));
    }

    /** One for each way on which answers come: a sink is chained to each, which a union is not. */
    @Override
    public List<DataStream<Answer>> branches(DataStream<Event> events, Options options) {
        int sources = events.getParallelism();
        EvenKeys keys = new EvenKeys(events.getExecutionEnvironment().getParallelism());
        SingleOutputStreamOperator<Event> reports = events
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.forGenerator(context -> new SecondWatermarks()))
                .setParallelism(sources) // chained: the order of the input stays
                .process(new DispatchFunction())
                .setParallelism(sources);
        SingleOutputStreamOperator<Answer> told = reports
                .keyBy(report -> keys.keyOf(report.road()), Types.INT)
                .process(new RoadFunction());
        DataStream<Answer> balances = told.getSideOutput(RoadFunction.CHARGES)
                .connect(reports.getSideOutput(DispatchFunction.BALANCES))
                .keyBy(charge -> charge.f0, question -> question.f0, Types.INT)
                .process(new AccountFunction());
        DataStream<Answer> expenditures = reports.getSideOutput(DispatchFunction.EXPENDITURES)
                .process(new History(options.text("history", "")))
                .setParallelism(sources);
        return List.of(told, balances, expenditures);
    }

    @Override
    public String row(Answer answer) {
        return answer.row();
    }

    @Override
    public long dueNs(Answer answer, long timestamp) {
        return answer.timestamp();
    }

    /** Expressway 0 of the input stands for `--expressways` of them, each with cars of its own. */
    @Override
    public Run.Pace<Event> pace(Options options) {
        int expressways = options.count("expressways", 1);
        return new Run.Pace<>() {
            @Override
            public double seconds(Event event) {
                return event.time();
            }

            @Override
            public int copies() {
                return expressways;
            }

            @Override
            public Event copy(Event event, int number) {
                if (event.expressway() != 0) {
                    throw new PeerException("--pace needs an input of expressway 0 alone");
                }
                Event copy = new Event();
                int car = event.car() + number * CARS_OF_EXPRESSWAY;
                event.copyTo(copy, event.time(), car, number);
                return copy;
            }
        };
    }
}
