// SPDX-License-Identifier: Apache-2.0
//
// The common part of the hand-written applications: files read into memory, records cut out of them
// before the clock starts, and the loop that replays them for a time. Single-threaded; an input
// owns the text that the views in its records point into.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strid::bench::hand {

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The lines of a text without their ends; an unfinished last line counts, an empty rest does not.
inline std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Cuts the text before the next comma off the front of `rest`.
inline std::string_view next_field(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return field;
}

template <class Number>
Number parse_number(std::string_view field) {
    Number number{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc{} || end != field.data() + field.size()) {
        throw std::runtime_error("not a number: " + std::string(field));
    }
    return number;
}

struct ReplayResult {
    std::uint64_t records = 0;
    double seconds = 0;

    [[nodiscard]] double records_per_second() const {
        return seconds > 0 ? static_cast<double>(records) / seconds : 0;
    }
};

/// Calls step(record) for every record of `input`, pass after pass, until `duration` is over;
/// exactly one pass for a duration of zero. The clock is read once in 1,024 records.
template <class Record, class Step>
ReplayResult replay(const std::vector<Record>& input, std::chrono::nanoseconds duration,
                    Step&& step) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t records_between_clock_reads = 1024;
    const auto start = Clock::now();
    const bool once = duration.count() == 0;
    ReplayResult result;
    bool running = !input.empty();
    while (running) {
        for (std::size_t from = 0; from < input.size() && running;) {
            const std::size_t to = std::min(from + records_between_clock_reads, input.size());
            for (std::size_t i = from; i < to; ++i) step(input[i]);
            result.records += to - from;
            from = to;
            running = once || Clock::now() - start < duration;
        }
        running = running && !once;
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return result;
}

/// Keeps a value alive that nothing reads, so that the work behind it is not optimised away.
template <class Value>
void keep_alive(const Value& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace strid::bench::hand
