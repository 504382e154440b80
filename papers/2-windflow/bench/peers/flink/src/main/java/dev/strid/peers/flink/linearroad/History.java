// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import dev.strid.peers.Input;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** Answers questions for expenditures by the history file, which open() reads. */
public class History extends ProcessFunction<Event, Answer> {
    private final String path; // empty: nothing was ever paid
    private transient Map<Long, Long> tolls;
    private transient Answer answer;

    public History(String path) {
        this.path = path;
    }

    @Override
    public void open(OpenContext unused) {
        answer = new Answer();
        tolls = new HashMap<>();
        if (path.isEmpty()) return;
        List<Map.Entry<Long, Long>> rows =
                Input.csv(Path.of(path), 4, cells -> Map.entry(
                        keyOf(Integer.parseInt(cells[0]), Integer.parseInt(cells[1]),
                                Integer.parseInt(cells[2])),
                        Long.parseLong(cells[3])));
        for (Map.Entry<Long, Long> row : rows) tolls.put(row.getKey(), row.getValue());
    }

    @Override
    public void processElement(Event question, Context context, Collector<Answer> out) {
        long toll =
                tolls.getOrDefault(
                        keyOf(question.car(), question.day(), question.expressway()), 0L);
        long timestamp = context.timestamp() == null ? 0 : context.timestamp();
        answer.setFields(Answer.EXPENDITURE, question.time(), question.query(), 0, toll, timestamp);
        out.collect(answer);
    }

    private static long keyOf(int car, int day, int expressway) {
        return (long) car << 32 | (long) day << 16 | expressway;
    }
}
