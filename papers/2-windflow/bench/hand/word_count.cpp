// SPDX-License-Identifier: Apache-2.0
//
// hand_word_count INPUT [--duration SECONDS]: rates of the hand-written word count, without and
// with updates. With --once [--updates] [--output FILE]: the answer of one pass.
#include "word_count.hpp"

#include <cstdio>
#include <ostream>
#include <string_view>

#include "bench/hand/options.hpp"

namespace {

using namespace strid::bench::hand;

void write_row(std::ostream& stream, const WordUpdate& row) {
    if (row.word.find_first_of("\",\r") == std::string_view::npos) {
        stream << row.word;
    } else {
        stream << '"';
        for (const char letter : row.word)
            stream << (letter == '"' ? "\"\"" : std::string_view(&letter, 1));
        stream << '"';
    }
    stream << ',' << row.count << '\n';
}

void run(const Options& options) {
    const WordCountInput input(options.input);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            WordCounter counter;
            for (const std::string_view line : input.lines) {
                counter.count(line, [&](const WordUpdate& update) {
                    if (options.updates) write_row(stream, update);
                });
            }
            if (options.updates) return;
            for (const auto& [word, count] : counter.counts()) write_row(stream, {word, count});
        });
        return;
    }
    const auto report = [](const char* name, const WordCountResult& result) {
        std::printf("%-22s %8.1f K lines/s %8.1f MB/s %8.2f M words/s\n", name,
                    result.records_per_second() / 1e3, result.megabytes_per_second(),
                    static_cast<double>(result.words) / result.seconds / 1e6);
    };
    report("word count", run_word_count(input, options.duration));
    report("word count, updates", run_word_count_updates(input, options.duration));
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
