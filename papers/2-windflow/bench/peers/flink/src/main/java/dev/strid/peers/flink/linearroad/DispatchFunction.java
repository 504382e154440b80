// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/** Reports leave by the main output, questions by side outputs of their kind. */
public class DispatchFunction extends ProcessFunction<Event, Event> {
    public static final OutputTag<Question> BALANCES = new OutputTag<>("balances") {};
    public static final OutputTag<Event> EXPENDITURES = new OutputTag<>("expenditures") {};

    private transient Question question;
    private transient Counter travelTimes;

    @Override
    public void open(OpenContext unused) {
        question = new Question();
        travelTimes = getRuntimeContext().getMetricGroup().counter("travel times asked");
    }

    @Override
    public void processElement(Event event, Context context, Collector<Event> out) {
        switch (event.kind()) {
            case Event.POSITION:
                out.collect(event);
                break;
            case Event.BALANCE:
                long timestamp = context.timestamp() == null ? 0 : context.timestamp();
                question.setFields(event.car(), event.time(), event.query(), timestamp);
                context.output(BALANCES, question);
                break;
            case Event.EXPENDITURE:
                context.output(EXPENDITURES, event);
                break;
            default:
                travelTimes.inc();
        }
    }
}
