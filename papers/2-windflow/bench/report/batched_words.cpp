// SPDX-License-Identifier: Apache-2.0
//
// Word count with batches of so many words (paper 2, figures 14 and 20), replayed from memory. A
// word says that it owns a byte on the heap, so that `batch_heap_bytes` bounds the words of a batch
// exactly; with --batch 0 it says nothing, and the engine's own bounds hold.
//
//   batched_words --input FILE --duration TIME --batch N [options of a run, as --metrics FILE]
//   batched_words --input FILE --output FILE --batch N     one pass, with the rows of its answer
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <strid/connector/csv_writer.hpp>
#include <strid/connector/discard.hpp>
#include <strid/connector/replay.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/program/program.hpp>

#include "papers/2-windflow/word-count/split_words.hpp"

namespace {

using namespace strid;

struct Word {
    std::string_view text;
};

struct CountedWord {
    std::string_view text;

    [[nodiscard]] std::size_t heap_bytes() const noexcept { return 1; }
};

template <class W>
Graph word_count(const std::string& input, const std::string& output,
                 std::chrono::nanoseconds duration) {
    Graph graph{"word-count"};
    // Without a duration: one pass.
    if (!output.empty()) duration = std::chrono::nanoseconds{0};
    auto counts = graph.source(replay(text_lines(input), {.duration = duration}), {.name = "lines"})
                      .template flat_map<W>(
                          [](const Line& line, auto& emit) {
                              apps::word_count::for_each_word(
                                  line.text, [&emit](std::string_view text) { emit(W{text}); });
                          },
                          {.name = "split"})
                      .template key_by<&W::text>()
                      .accumulate(std::uint64_t{0}, [](std::uint64_t& count, const W&) { ++count; },
                                  Emit::every_update, {.name = "count"});
    if (output.empty()) {
        std::move(counts).sink(discard(), {.name = "drop"});
    } else {
        std::move(counts).sink(csv_writer<Keyed<std::string_view, std::uint64_t>>(output),
                               {.name = "write"});
    }
    return graph;
}

}  // namespace

int main(int argc, char** argv) {
    std::string input;
    std::string output;
    std::chrono::nanoseconds duration = std::chrono::seconds(2);
    std::size_t batch = 0;
    Arguments arguments("batched_words", "word count with batches of so many words");
    arguments.option("--input", input, "A text", {.required = true});
    arguments.option("--output", output,
                     "One pass, whose rows (a word, how often it was there) go to this file");
    arguments.option("--duration", duration, "It is replayed from memory for so long");
    arguments.option("--batch", batch, "Words of a batch at most; 0: as many as the engine takes");
    if (const auto code = arguments.parse(argc, argv)) return *code;
    RunOptions& options = arguments.run().run;
    const std::size_t sources = options.parallelism != 0 ? options.parallelism : options.workers;
    if (sources != 0) options.operator_parallelism.emplace("lines", sources);
    return with_errors_reported([&] {
        if (batch != 0) options.batch_heap_bytes = batch;
        return run(batch != 0 ? word_count<CountedWord>(input, output, duration)
                              : word_count<Word>(input, output, duration),
                   arguments);
    });
}
