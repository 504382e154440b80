// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.Input;
import dev.strid.peers.Options;
import dev.strid.peers.Words;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The rules of word-count. */
final class WordCount implements Application<String> {
    /** A word and how often it came. */
    private record Counted(String word, long count) implements Serializable {}

    @Override
    public String name() {
        return "word-count";
    }

    @Override
    public List<String> read(Path input, Options options) {
        return Input.lines(input);
    }

    @Override
    public boolean keyedFirst() {
        return false;
    }

    @Override
    public List<Stage<?, ?>> stages(Options options) {
        Stage<String, String> split = Words::split;
        return List.of(split, new Count(Words.emitsUpdates(options)));
    }

    @Override
    public String row(Object result) {
        Counted counted = (Counted) result;
        return Input.cell(counted.word) + ',' + counted.count;
    }

    private static final class Count implements Stage<String, Counted> {
        private final boolean updates;
        private final Map<String, Words.Count> counts = new HashMap<>();

        Count(boolean updates) {
            this.updates = updates;
        }

        @Override
        public Object key(String word) {
            return word;
        }

        @Override
        public void process(String word, Consumer<Counted> output) {
            Words.Count count = counts.computeIfAbsent(word, first -> new Words.Count());
            ++count.count;
            if (updates) output.accept(new Counted(word, count.count));
        }

        @Override
        public void end(Consumer<Counted> output) {
            if (updates) return;
            counts.forEach((word, count) -> output.accept(new Counted(word, count.count)));
        }
    }
}
