// SPDX-License-Identifier: Apache-2.0
//
// Counts the words of standard input and prints them in the order of the alphabet:
//
//     echo 'to be or not to be' | word_count
//
// The counts are a state by key. Each replica of accumulate() owns some of the words, so that
// `--parallelism 2` uses two cores and changes nothing in the program.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include <strid/strid.hpp>

/// Emits each word of a line. The text points into the line: nothing is copied.
constexpr auto words_of = [](const strid::Line& line, auto& emit) {
    constexpr std::string_view spaces = " \t";
    std::size_t begin = line.text.find_first_not_of(spaces);
    while (begin != line.text.npos) {
        const std::size_t end = line.text.find_first_of(spaces, begin);
        emit(line.text.substr(begin, end - begin));
        begin = line.text.find_first_not_of(spaces, end);
    }
};

int main(int argc, char** argv) {
    std::map<std::string, std::uint64_t> counts;
    strid::Graph graph{"word-count"};
    graph.source(strid::text_lines("-"))
        .flat_map<std::string_view>(words_of)
        .key_by([](std::string_view word) { return word; })
        .accumulate(
            std::uint64_t{0}, [](std::uint64_t& count, std::string_view) { ++count; },
            strid::Emit::at_end)
        .sink([&counts](const auto& counted) { counts[std::string{counted.key}] = counted.value; });
    const int status = strid::run(graph, argc, argv);  // with --help, --parallelism and others
    for (const auto& [word, count] : counts) {
        std::printf("%d %s\n", static_cast<int>(count), word.c_str());
    }
    return status;
}
