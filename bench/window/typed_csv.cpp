// SPDX-License-Identifier: Apache-2.0
//
// Sliding sums by key from one CSV file into another, with the record's type known to the compiler:
// what `strid window` is measured against (csv_bench.py). The input has a header and the columns
// at (ms), device, value; the output is that of
//     strid window --key device --time at --window sliding:10s/1s --aggregate 'sum(value)'
//
//   typed_csv INPUT OUTPUT
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

namespace {

struct Reading {
    std::int64_t at_ms;
    std::uint32_t device;
    double value;
};

struct Total {
    std::uint32_t device;
    std::int64_t start_ms;
    std::int64_t end_ms;
    double sum;
};

constexpr auto time_of = [](const Reading& reading) {
    return strid::EventTime{std::chrono::milliseconds{reading.at_ms}};
};

std::int64_t ms(strid::EventTime time) {
    return time.ns() / 1'000'000;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    using strid::window::TimeWindows;
    if (argc != 3) {
        std::fputs("typed_csv INPUT OUTPUT\n", stderr);
        return 2;
    }
    strid::Graph graph{"typed"};
    graph.source(strid::csv_file<Reading>(argv[1], {.header = strid::CsvHeader::skip}))
        .event_time(time_of, strid::BoundedDisorder{0s})
        .key_by<&Reading::device>()
        .window(TimeWindows::sliding(10s, 1s), strid::window::sum<&Reading::value>())
        .map([](const auto& w) {
            return Total{w.key, ms(w.window.start), ms(w.window.end), w.value};
        })
        .sink(strid::csv_writer<Total>(
            argv[2], {.header = {"device", "window_start", "window_end", "sum(value)"}}));
    strid::run(graph);
    return 0;
}
