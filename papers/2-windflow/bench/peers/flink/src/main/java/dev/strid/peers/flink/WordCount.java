// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.Input;
import dev.strid.peers.Options;
import dev.strid.peers.Words;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** The rules of word-count. */
final class WordCount implements Application<String, Tuple2<String, Long>> {
    @Override
    public String name() {
        return "word-count";
    }

    @Override
    public TypeInformation<String> recordType() {
        return Types.STRING;
    }

    @Override
    public List<String> read(Path input, Options options) {
        return Input.lines(input);
    }

    @Override
    public DataStream<Tuple2<String, Long>> build(DataStream<String> lines, Options options) {
        FlatMapFunction<String, String> split = (line, words) -> Words.split(line, words::collect);
        return lines
                .flatMap(split).returns(Types.STRING)
                .keyBy(word -> word)
                .process(new Count(Words.emitsUpdates(options)))
                .returns(Types.TUPLE(Types.STRING, Types.LONG));
    }

    @Override
    public String row(Tuple2<String, Long> count) {
        return Input.cell(count.f0) + ',' + count.f1;
    }

    private static final class Count
            extends KeyedProcessFunction<String, String, Tuple2<String, Long>> {
        private final boolean updates;
        private transient ValueState<Words.Count> counts;
        private transient Tuple2<String, Long> result;

        Count(boolean updates) {
            this.updates = updates;
        }

        @Override
        public void open(OpenContext context) {
            counts = getRuntimeContext().getState(
                    new ValueStateDescriptor<>("count", Words.Count.class));
            result = new Tuple2<>();
        }

        @Override
        public void processElement(String word, Context context,
                Collector<Tuple2<String, Long>> output) throws Exception {
            Words.Count count = counts.value();
            if (count == null) {
                count = new Words.Count();
                counts.update(count);  // the heap keeps this object: changed in place from here
                // Flink ends a stream with the greatest watermark.
                if (!updates) context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
            }
            ++count.count;
            if (updates) emit(word, count, output);
        }

        @Override
        public void onTimer(long time, OnTimerContext context,
                Collector<Tuple2<String, Long>> output) throws Exception {
            emit(context.getCurrentKey(), counts.value(), output);
        }

        private void emit(String word, Words.Count count, Collector<Tuple2<String, Long>> output) {
            result.f0 = word;
            result.f1 = count.count;
            output.collect(result);
        }
    }
}
